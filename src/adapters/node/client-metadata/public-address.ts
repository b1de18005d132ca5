/**
 * The decision whether an IP address belongs to the public internet.
 * @module
 * @see RFC 6890 and the IANA registries of special-purpose addresses that it founds
 */
import { BlockList, isIP } from 'node:net'

type Network = readonly [address: string, prefix: number]

const RESERVED_IPV4 = networks('ipv4', [
  ['0.0.0.0', 8], // this network, and the unspecified address (RFC 791, section 3.2)
  ['10.0.0.0', 8], // private (RFC 1918)
  ['100.64.0.0', 10], // shared by the subscribers of a provider (RFC 6598)
  ['127.0.0.0', 8], // loopback (RFC 1122, section 3.2.1.3)
  ['168.63.129.16', 32], // the host of each virtual machine at Azure, though the address looks public
  ['169.254.0.0', 16], // link-local, and the metadata services of clouds (RFC 3927)
  ['172.16.0.0', 12], // private (RFC 1918)
  ['192.0.0.0', 24], // protocol assignments (RFC 6890, section 2.1)
  ['192.0.2.0', 24], // documentation (RFC 5737)
  ['192.88.99.0', 24], // relays of 6to4 (RFC 7526)
  ['192.168.0.0', 16], // private (RFC 1918)
  ['198.18.0.0', 15], // benchmarking (RFC 2544)
  ['198.51.100.0', 24], // documentation (RFC 5737)
  ['203.0.113.0', 24], // documentation (RFC 5737)
  ['224.0.0.0', 4], // multicast (RFC 5771)
  ['240.0.0.0', 4], // reserved, and broadcast (RFC 1112, section 4; RFC 919)
])

/**
 * Global unicast of IPv6 (RFC 4291, section 2.4), the one part that IANA gives out. Outside it are loopback, private and link-local
 * addresses, multicast, translated IPv4 (`64:ff9b::/96`, `64:ff9b:1::/48`) and mapped IPv4 (`::ffff:0:0/96`).
 */
const UNICAST_IPV6 = networks('ipv6', [['2000::', 3]])

const RESERVED_IPV6 = networks('ipv6', [
  ['2001::', 23], // protocol assignments, such as Teredo (RFC 2928, RFC 4380)
  ['2001:db8::', 32], // documentation (RFC 3849)
  ['2002::', 16], // 6to4, which carries any IPv4 address (RFC 3056)
  ['3fff::', 20], // documentation (RFC 9637)
])

/** Checks that a text is a public unicast address. An IPv6 address with a zone is none. */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !RESERVED_IPV4.check(address, 'ipv4')
    case 6:
      return !address.includes('%') && UNICAST_IPV6.check(address, 'ipv6') && !RESERVED_IPV6.check(address, 'ipv6')
    default:
      return false
  }
}

function networks(family: 'ipv4' | 'ipv6', all: readonly Network[]): BlockList {
  const list = new BlockList()
  for (const [address, prefix] of all) list.addSubnet(address, prefix, family)
  return list
}
