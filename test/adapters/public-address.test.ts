/**
 * The addresses that a fetch from a stranger's URL may connect to.
 * @module
 */
import { describe, expect, it } from 'vitest'
import { isPublicAddress } from '../../src/adapters/node/client-metadata/public-address.js'

const PUBLIC = [
  ...['1.1.1.1', '8.8.8.8', '93.184.216.34', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0'],
  ...['126.255.255.255', '128.0.0.0', '169.253.255.255', '169.255.0.0', '172.15.255.255', '172.32.0.0'],
  ...['191.255.255.255', '192.0.1.0', '192.0.3.0', '192.88.98.255', '192.167.255.255', '192.169.0.0'],
  ...['198.17.255.255', '198.20.0.0', '198.51.99.255', '203.0.114.0', '223.255.255.255', '168.63.129.15'],
  ...['2000::', '2001:200::', '2001:db7:ffff::1', '2001:db9::', '2001:4860:4860::8888', '2003::1'],
  ...['2606:4700:4700::1111', '3ffe:ffff::1', '3fff:1000::', '2A00:1450::1'],
]

/** Addresses that are not public, by what they are. */
const OTHERS = {
  'this network': ['0.0.0.0', '0.255.255.255'],
  'private IPv4': ['10.0.0.0', '10.255.255.255', '172.16.0.0', '172.31.255.255', '192.168.0.0', '192.168.255.255'],
  'shared by subscribers': ['100.64.0.0', '100.127.255.255', '100.100.100.200'],
  'loopback IPv4': ['127.0.0.0', '127.0.0.1', '127.255.255.255'],
  'link-local IPv4': ['169.254.0.0', '169.254.169.254', '169.254.255.255'],
  'the host of a machine at Azure': ['168.63.129.16'],
  'a protocol assignment of IPv4': ['192.0.0.0', '192.0.0.192', '192.0.0.255'],
  'documentation of IPv4': ['192.0.2.0', '192.0.2.255', '198.51.100.1', '203.0.113.0', '203.0.113.255'],
  'a relay of 6to4': ['192.88.99.1'],
  benchmarking: ['198.18.0.0', '198.19.255.255'],
  'multicast IPv4': ['224.0.0.0', '239.255.255.255'],
  'reserved or broadcast': ['240.0.0.0', '255.255.255.254', '255.255.255.255'],
  'unspecified or loopback IPv6': ['::', '::1', '0:0:0:0:0:0:0:1'],
  'IPv4-compatible': ['::8.8.8.8', '::7f00:1', '::127.0.0.1'],
  'IPv4-mapped': ['::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:8.8.8.8', '0:0:0:0:0:ffff:169.254.169.254'],
  'IPv4-translated': ['::ffff:0:127.0.0.1'],
  'NAT64, also of a network of its own': ['64:ff9b::7f00:1', '64:ff9b::8.8.8.8', '64:ff9b:1::1', '64:ff9b:1:ffff::'],
  'discarded IPv6': ['100::1'],
  'a protocol assignment of IPv6': ['2001::', '2001:2::1', '2001:10::1', '2001:1ff:ffff::'],
  Teredo: ['2001::1', '2001:0:4136:e378:8000:63bf:80ff:fffe'],
  'documentation of IPv6': ['2001:db8::', '2001:db8:ffff::1', '3fff::', '3fff:fff:ffff::1'],
  '6to4': ['2002::', '2002:7f00:1::1', '2002:a9fe:a9fe::', '2002:ffff::1'],
  'outside of global unicast': ['1fff:ffff::1', '4000::', '5f00::1', '8000::1'],
  'private IPv6': ['fc00::1', 'fd00:ec2::254', 'fdff:ffff::1'],
  'link-local or site-local IPv6': ['fe80::1', 'fe80::1%eth0', 'febf::1', 'fec0::1'],
  'multicast IPv6': ['ff02::1', 'ff0e::1'],
  'an address with a zone': ['2606:4700::1%eth0', '2606:4700::1%'],
  'no address': [
    '',
    'localhost',
    '1.1.1',
    '1.1.1.1.',
    '0x8.8.8.8',
    '8.8.8.8/32',
    '[2606:4700::1]',
    '08.8.8.8',
    ' 8.8.8.8',
  ],
} as const

describe('an address', () => {
  it.each(PUBLIC)('%s is public', (address) => {
    expect(isPublicAddress(address)).toBe(true)
  })

  const others = Object.entries(OTHERS).flatMap(([kind, all]) => all.map((address) => [address, kind] as const))
  it.each(others)('"%s" is not public, since it is %s', (address) => {
    expect(isPublicAddress(address)).toBe(false)
  })
})
