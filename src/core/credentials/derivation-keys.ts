/**
 * The change of a derivation key: what one key derived is found again while another derives.
 * @module
 */
import type { DerivationRules } from './digests.js'

/** Lists the rules under each key that something may have been derived with, the one that derives now first. */
export function rulesOfEachKey<Rules extends DerivationRules>(rules: Rules): readonly [Rules, ...Rules[]] {
  const { otherDerivationKeys = [] } = rules
  return [rules, ...otherDerivationKeys.map((derivationKey) => ({ ...rules, derivationKey }))]
}
