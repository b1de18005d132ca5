/**
 * The questions that the command can ask on a terminal. This file is loaded only where one is asked.
 * @module
 */
export { confirm, isCancel, select } from '@clack/prompts'
