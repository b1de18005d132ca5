/**
 * The messages of a metadata record: the types that ts-proto generates, and what the schema does not know beside them.
 * @module
 */
import type * as generated from '../generated/metadata.js'

/**
 * A field of text format, or of JSON, that the schema does not know, or whose enum name it does not know: one of `text`
 * and `fields` is there.
 */
export interface UnknownText {
  /** As it was written: `homepage`, or `[package.extension]` and `[host/package.Type]` without blanks. */
  name: string
  /** A scalar as it was written: `"quoted"`, `0x1F`, `-1.5`, `NAME`; adjacent strings with a blank between them. */
  text?: string
  /** The fields of a message. */
  fields?: UnknownText[]
}

/** What a message keeps of fields that the schema does not know. */
export interface Unknown {
  /**
   * Fields of binary input, written back byte for byte and in their order. All of them are one run: its key is the tag of
   * the first, its one value every byte after that tag. {@link unknownFields} takes it apart.
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

/** Where the project comes from, which version of it is here, under what terms (specification, ThirdPartyMetaData). */
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

/** How far the project's code can be trusted (specification, Security). */
export interface Security extends Known<generated.Security>, Unknown {}

/** Kinds of licence by number (specification, LicenseType). */
export type LicenseType = generated.LicenseType
/** What the directory holds, by number (specification, DirectoryType). Where it is unset, read `PACKAGE`. */
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
