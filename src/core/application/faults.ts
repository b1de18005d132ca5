/**
 * Faults of registrations and of redirect URIs: a stable code with values, and the English sentence that is made of both.
 * @module
 */
import type { Takes } from '../takes.js'
import { came } from '../takes.js'
import { unseenFault } from '../text.js'

/** The codes of the rules that every redirect URI must keep, registered or sent. */
export type RedirectUriFaultCode =
  /** It has more than `most` characters. */
  | 'redirect_uri_length'
  /** A browser would spell it in another way, or its host or path is none to trust. */
  | 'redirect_uri_spelling'
  /** It is no whole URL. */
  | 'redirect_uri_incomplete'
  /** It has a fragment. */
  | 'redirect_uri_fragment'
  /** It has a user name or a password. */
  | 'redirect_uri_user_info'
  /** It has `parameter`, which is one of the answer. */
  | 'redirect_uri_parameter'
  /** It has the host `localhost`, and the server takes the literal addresses alone. */
  | 'redirect_uri_localhost'
  /** Its scheme is none of those that are taken. */
  | 'redirect_uri_scheme'

/** The codes of the rules that the redirect URI of a request can break; stable. */
export type RedirectFaultCode =
  | RedirectUriFaultCode
  /** It was not sent, and not exactly one is registered. */
  | 'redirect_uri_not_sent'
  /** It is on loopback, and differs from the registered ones in more than its port. */
  | 'redirect_uri_loopback'
  /** It is not exactly a registered one. */
  | 'redirect_uri_not_registered'
  /** It has another port than the registered ones. */
  | 'redirect_uri_port'
  /** It has another host than `domain`. */
  | 'redirect_uri_host'
  /** It has another host than `domain` and its subdomains. */
  | 'redirect_uri_subdomain'

/** The codes of the rules that a registration can break; stable. */
export type RegistrationFaultCode =
  | RedirectUriFaultCode
  /** A value is absent that must be `takes`. */
  | 'missing'
  /** A value of another type than `takes`: it is `came`. */
  | 'type'
  /** A registration has no field of this name. */
  | 'field_unknown'
  /** The field is one of the prototype. */
  | 'field_inherited'
  /** A text has half of a character. */
  | 'half_character'
  /** A text has a control or direction mark, which nobody sees. */
  | 'unseen_mark'
  /** The name does not have `least` to `most` characters, on one line. */
  | 'name_length'
  /** The logo has more than `most` bytes. */
  | 'logo_bytes'
  /** The logo is no image of a type that is taken. */
  | 'logo_type'
  /** The header of the logo does not say how large it is. */
  | 'logo_header'
  /** The logo has `width` and `height` in pixels; `most` is the most of each. */
  | 'logo_pixels'
  /** The description has more than `most` characters. */
  | 'description_length'
  /** The website is no http or https URL of at most `most` characters. */
  | 'website_url'
  /** The type is neither `confidential` nor `public`. */
  | 'client_type'
  /** The type of the client would change. */
  | 'client_type_changed'
  /** The identifier does not have `least` to `most` printable ASCII characters. */
  | 'client_id'
  /** The secret does not have `least` to `most` visible ASCII characters. */
  | 'client_secret'
  /** The secret is the hash of a password, of a `kind` such as bcrypt. */
  | 'client_secret_hashed'
  /** The digest of the secret is no SHA-256. */
  | 'client_secret_digest'
  /** A secret is given, and the digest of one. */
  | 'client_secret_twice'
  /** A public client has a secret. */
  | 'client_secret_of_public'
  /** There is no redirect URI. */
  | 'redirect_uris_none'
  /** There are more than `most` redirect URIs. */
  | 'redirect_uris_count'
  /** A confidential client has a redirect URI with a private-use scheme. */
  | 'redirect_uri_confidential'
  /** The way to match redirect URIs is none of those that there are. */
  | 'redirect_matching'
  /** An authorized domain is given, and the redirect URIs are matched exactly. */
  | 'domain_of_exact'
  /** The redirect URIs have several hosts, and no authorized domain is given. */
  | 'domain_missing'
  /** The authorized domain is no domain name. */
  | 'domain_name'
  /** The subdomains of a top-level domain would be admitted. */
  | 'domain_top_level'
  /** A redirect URI has a `host` outside the authorized domain. */
  | 'domain_other_host'
  /** There is no scope, or there are more than the catalogue has. */
  | 'scopes_count'
  /** An administrator approved scopes that the application did not ask for. */
  | 'scopes_wider'
  /** The catalogue has no such scope; it has `scope`. */
  | 'scope_unknown'
  /** A scope that is asked for has no field of this name. */
  | 'scope_field_unknown'
  /** A scope is asked for twice. */
  | 'scope_twice'
  /** The scope `scope` includes `other`, which is asked for as well. */
  | 'scope_includes'
  /** The scope is included in `other`, which is asked for as well. */
  | 'scope_included'
  /** The reason does not have `least` to `most` characters. */
  | 'reason_length'
  /** The resource scope is none of those that there are. */
  | 'resource_scope'
  /** The service does not let its users specify resources. */
  | 'resource_scope_specified'
  /** The type of the tokens is none of those that there are. */
  | 'token_type'
  /** The service gives out no tokens of the type `mac`. */
  | 'token_type_mac'
  /** The server has no such audience; `came` is the value. */
  | 'audience_unknown'

/** The code of any fault. */
export type FaultCode = RegistrationFaultCode | RedirectFaultCode

/** The values in the sentence of a fault, by their names; empty if it has none. */
export type FaultValues = Readonly<Record<string, string | number>>

/** A rule that is broken, and the values of its sentence. */
export interface BrokenRule<Code extends FaultCode = FaultCode> {
  /** The code of the rule; stable. */
  readonly code: Code
  /** The values in the sentence. */
  readonly values: FaultValues
}

/** One fault of a registration. */
export interface RegistrationFault {
  /** The place of the fault, such as `redirectUris[1]`; empty for the whole registration. */
  readonly path: string
  /** The code of the rule that is broken; stable. */
  readonly code: RegistrationFaultCode
  /** The values in the sentence, such as `{ least: 1, most: 50 }`; empty if it has none. */
  readonly values: FaultValues
  /** The rule that is broken, in English: the rest of a sentence that begins with the path. */
  readonly message: string
}

/** The fault of the redirect URI of a request. Nothing of the URI is in it, since its query may hold a secret. */
export interface RedirectFault {
  /** The code of the rule that is broken; stable. */
  readonly code: RedirectFaultCode
  /** The values in the sentence, such as `{ domain: 'app.example' }`; empty if it has none. */
  readonly values: FaultValues
  /** The rule that is broken, in English: the rest of a sentence that begins with the redirect URI. */
  readonly message: string
}

/** The sentences in English: the only place that has their words. */
const SENTENCES = {
  missing: 'must be {takes}; got undefined',
  type: 'must be {takes}; got {came}',
  field_unknown: 'is not a field of a registration',
  field_inherited: "must be the object's own; got an inherited one",
  half_character: 'has half of a character',
  unseen_mark: 'has a control or direction mark',
  name_length: 'must have {least} to {most} characters, on one line',
  logo_bytes: 'must have at most {most} bytes',
  logo_type: 'must be a PNG, JPEG, GIF or WebP image',
  logo_header: 'must be an image whose header has its width and height',
  logo_pixels: 'has {width} x {height} pixels; must have at most {most} x {most}',
  description_length: 'must have at most {most} characters',
  website_url: 'must be an http or https URL of at most {most} characters, without user info',
  client_type: 'must be confidential or public',
  client_type_changed: 'must stay as it is: register another application',
  client_id: 'must have {least} to {most} printable ASCII characters',
  client_secret: 'must have {least} to {most} visible ASCII characters',
  client_secret_hashed:
    'must be the secret itself, not a hash of it ({kind}): leave it out, and the client gets a new one',
  client_secret_digest:
    'must be the SHA-256 of a random secret, in 64 hexadecimal digits or 43 characters of base64url',
  client_secret_twice: 'must not be given beside clientSecret',
  client_secret_of_public: 'must not be given: a public client has none',
  redirect_uris_none: 'must have at least one',
  redirect_uris_count: 'must be at most {most}',
  redirect_uri_length: 'must have at most {most} characters',
  redirect_uri_spelling:
    'must be spelled as a browser spells it, with a plain host and no empty or encoded parts in its path',
  redirect_uri_incomplete: 'must be a whole URL',
  redirect_uri_fragment: 'must not have a fragment',
  redirect_uri_user_info: 'must not have user info',
  redirect_uri_parameter: 'must not have the parameter {parameter}, in any spelling: it is one of the response',
  redirect_uri_localhost: 'must have 127.0.0.1 or [::1] in place of localhost',
  redirect_uri_scheme: 'must be https, http on loopback, or a private-use scheme with a dot such as com.example.app:',
  redirect_uri_confidential: 'must not have a private-use scheme: the client is confidential',
  redirect_uri_not_sent: 'must be sent: not exactly one is registered',
  redirect_uri_loopback:
    'must have the host, path and query of a registered redirect URI on loopback; only the port may differ',
  redirect_uri_not_registered: 'must be exactly a registered redirect URI',
  redirect_uri_port: 'must have the port of a registered redirect URI',
  redirect_uri_host: 'must have the host {domain}',
  redirect_uri_subdomain: 'must have the host {domain} or a subdomain of it',
  redirect_matching: 'must be domain or exact',
  domain_of_exact: 'must not be given: redirectMatching is exact',
  domain_missing: 'must be given: the redirect URIs have several hosts',
  domain_name: 'must be a domain name in lower case, without port or trailing dot',
  domain_top_level: 'must not open a top-level domain',
  domain_other_host: '{host} is not in the authorized domain',
  scopes_count: 'must be one or more scopes of the catalogue, each asked for once',
  scopes_wider: 'must be among those that were asked for',
  scope_unknown: 'must be a scope of the catalogue, such as {scope}',
  scope_field_unknown: 'is not a field of a scope that is asked for',
  scope_twice: 'is asked for twice',
  scope_includes: 'includes {other}, which is asked for as well: name {scope} alone',
  scope_included: 'is included in {other}: name {other} alone',
  reason_length: 'must have {least} to {most} characters',
  resource_scope: 'must be all, public or specified',
  resource_scope_specified: 'must not be specified: the server has no option resources',
  token_type: 'must be bearer or mac',
  token_type_mac: 'must not be mac: the server has no option macTokens',
  audience_unknown: "must be one of the server's audiences; got {came}",
} as const

/** A value in a sentence: a name in braces. */
const VALUE = /(\{\w+\})/

/** The names in the braces of a sentence. */
type NameIn<Sentence> = Sentence extends `${string}{${infer Name}}${infer Rest}` ? Name | NameIn<Rest> : never

/** The names of the values of a rule. */
type NameOf<Code extends FaultCode> = NameIn<(typeof SENTENCES)[Code]>

/** The values that a rule needs; nothing where its sentence has none. */
type Needed<Code extends FaultCode> = [NameOf<Code>] extends [never]
  ? readonly []
  : readonly [{ readonly [Name in NameOf<Code>]: string | number }]

/** Creates a broken rule, with every value of its sentence and no other. */
export function brokenRule<Code extends FaultCode>(code: Code, ...[values]: Needed<Code>): BrokenRule<Code> {
  return { code, values: values ?? {} }
}

/**
 * Creates the broken rule of a value of a wrong type, or of none.
 * @param takes - the values that would be right
 */
export function wrongType(
  { words: takes, secret }: Omit<Takes, 'fits'>,
  value: unknown,
): BrokenRule<'missing' | 'type'> {
  return value === undefined
    ? brokenRule('missing', { takes })
    : brokenRule('type', { takes, came: came(value, secret) })
}

/** Finds the rule that a text breaks by a character that nobody sees; undefined where it has none. */
export function unseenRule(text: string): BrokenRule<'half_character' | 'unseen_mark'> | undefined {
  const code = unseenFault(text)
  return code && brokenRule(code)
}

/** Writes the sentence of a broken rule in English, without its subject. */
export function faultSentence({ code, values }: BrokenRule): string {
  return SENTENCES[code]
    .split(VALUE)
    .map((part) => (VALUE.test(part) ? written(values[part.slice(1, -1)]) : part))
    .join('')
}

/** Creates the fault of a registration. */
export function registrationFault(path: string, rule: BrokenRule<RegistrationFaultCode>): RegistrationFault {
  return { path, ...rule, message: faultSentence(rule) }
}

/** Creates the fault of a redirect URI. */
export function redirectFault(rule: BrokenRule<RedirectFaultCode>): RedirectFault {
  return { ...rule, message: faultSentence(rule) }
}

/** Writes a value: a number with commas, as in 1,048,576. */
function written(value: string | number | undefined): string {
  return typeof value === 'number' ? grouped(String(value)) : String(value)
}

function grouped(digits: string): string {
  return digits.length > 3 ? `${grouped(digits.slice(0, -3))},${digits.slice(-3)}` : digits
}
