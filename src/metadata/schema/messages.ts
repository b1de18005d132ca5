/**
 * The messages of a metadata record: the types that ts-proto generates, and beside them the fields that the schema does not know.
 * @module
 */
import type * as generated from '../generated/metadata.js'

/**
 * A field of text format or JSON that the schema does not know, or whose enum name it does not know. It has either `text` or
 * `fields`.
 */
export interface UnknownText {
  /** The name as it was written: `homepage`, or `[package.extension]` and `[host/package.Type]` without blanks. */
  name: string
  /** A scalar as it was written: `"quoted"`, `0x1F`, `-1.5`, `NAME`; adjacent strings with a blank between them. */
  text?: string
  /** The fields of a message. */
  fields?: UnknownText[]
}

/** The fields of a message that the schema does not know. */
export interface Unknown {
  /**
   * Fields of binary input, written back byte for byte and in their order. They are kept as one entry: its key is the tag of
   * the first field, its one value all bytes after that tag. {@link unknownFields} returns the single fields.
   */
  _unknownFields?: { [tag: number]: Uint8Array[] } | undefined
  /** Fields of text or JSON input, written back by `formatText` and `toJSON`. Binary cannot hold them: they have no number. */
  _unknownText?: UnknownText[] | undefined
}

type Known<T, Nested extends keyof T = never> = Omit<T, Nested | '_unknownFields'>

/** The record of a third-party project (specification, MetaData). */
export interface MetaData extends Known<generated.MetaData, 'thirdParty'>, Unknown {
  thirdParty?: ThirdPartyMetaData | undefined
}

/** The origin of the project, its version and its licence (specification, ThirdPartyMetaData). */
export interface ThirdPartyMetaData
  extends Known<generated.ThirdPartyMetaData, 'url' | 'security' | 'lastUpgradeDate'>,
    Unknown {
  url: UrlMessage[]
  security?: Security | undefined
  lastUpgradeDate?: DateMessage | undefined
}

/** One place where the project is found (specification, URL). */
export interface UrlMessage extends Known<generated.URL>, Unknown {}

/** A day (specification, Date): `month` from 1 to 12, `day` from 1 to 31. */
export interface DateMessage extends Known<generated.DateMessage>, Unknown {}

/** The degree to which the project's code can be trusted (specification, Security). */
export interface Security extends Known<generated.Security>, Unknown {}

/** Kinds of licence by number (specification, LicenseType). */
export type LicenseType = generated.LicenseType
/** Kinds of directory by number (specification, DirectoryType). An unset one means `PACKAGE`. */
export type DirectoryType = generated.DirectoryType
/** Kinds of {@link UrlMessage} by number (specification, URL.Type). */
export type UrlType = generated.URL_Type
/** Degrees of trust by number (specification, Security.Category). */
export type SecurityCategory = generated.Security_Category

/** `T` with every field optional, in nested messages too. */
export type Partly<T> = T extends (infer Item)[]
  ? Partly<Item>[]
  : T extends Uint8Array
    ? T
    : T extends object
      ? { [Key in keyof T]?: Partly<T[Key]> | undefined }
      : T
