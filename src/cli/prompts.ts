/**
 * The questions that the command can ask on a terminal. They are loaded where one is asked alone.
 * @module
 */
export { confirm, isCancel, select } from '@clack/prompts'
