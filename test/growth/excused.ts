/**
 * Functions that take texts, bytes or the like and that no growth test measures, by the reason.
 * @module
 */

/** Functions of one file. */
const of = (file: string, ...names: readonly string[]): readonly string[] => names.map((name) => `${file} ${name}`)

const MESSAGES = ['ThirdPartyMetaData', 'UrlMessage', 'DateMessage', 'Security']

/** By their files and names, as the table of parsers has them. */
export const EXCUSED: Readonly<Record<string, readonly string[]>> = {
  'takes a few characters or bytes of what it is given, however long that is': [
    ...of('core/errors.ts', 'isOAuthError'),
    ...of('core/credentials/credential.ts', 'credentialAt'),
    ...of('metadata/text/literals.ts', 'readEscape', 'explainEscape'),
    ...of('metadata/options.ts', 'isBytes', 'checkInput'),
    ...of('metadata/errors.ts', 'describeKind'),
    ...of('metadata/json/sparse.ts', 'isIndexLike'),
    ...of('client/node/process-identity.ts', 'isEnded'),
    ...of('metadata/text/text-error.ts', 'foundAt'),
    ...of('metadata/text/text.ts', 'findUtf16Fault'),
    ...of('protocol/message.ts', 'headerOf', 'isHeadersObject'),
    ...of('protocol/cors/preflight.ts', 'isPreflight'),
    ...of('client/errors.ts', 'isClientError'),
  ],
  'is given an application as it was checked, or the origin of a page, both of limited length': [
    ...of('protocol/registration/registration.ts', 'registeredResponse', 'readResponse'),
    ...of('protocol/cors/response.ts', 'endpointPreflight'),
  ],
  'is given random bytes, keys and digests of a fixed length': [
    ...of('core/credentials/credential.ts', 'secretFrom', 'grantIdOf'),
    ...of('core/grant/device.ts', 'requestDevice', 'poll'),
    ...of('core/credentials/digests.ts', 'hkdf', 'concatenate', 'keyMaterialOf'),
    ...of('core/grant/exchange.ts', 'exchange'),
    ...of('core/grant/approve.ts', 'approve'),
    ...of('core/grant/pair.ts', 'createSecrets'),
    ...of('core/credentials/mac.ts', 'macKeyOf', 'normalizedTime'),
    ...of('core/grant/refresh.ts', 'refresh'),
    ...of('core/grant/transition.ts', 'transition'),
    ...of('core/credentials/user-code.ts', 'userCodeOf', 'userCodeDigest'),
    ...of('protocol/pages/form-binding.ts', 'formToken', 'setBrowserKey'),
    ...of('protocol/mac.ts', 'timeOf'),
    ...of('client/resource-server/introspection.ts', 'introspect'),
  ],
  'is given scopes that were found in the catalogue, each of them once': [
    ...of('core/scopes.ts', 'printScopes', 'coversScopes', 'readWrite', 'narrowScopes', 'limitScopes'),
    ...of('core/grant/pair.ts', 'issuedTokens', 'scopesNow', 'withoutScopes'),
    ...of('core/audiences/audience.ts', 'limitToAudience'),
    ...of('protocol/audiences/requested-audience.ts', 'registeredForAudience'),
    ...of('protocol/audiences/resource-metadata.ts', 'resourceMetadataPath', 'resourceMetadataUrl'),
    ...of('protocol/metadata.ts', 'resourceMetadataResponse'),
    ...of('protocol/bearer.ts', 'challenge'),
  ],
  'is given options, arguments and answers of the program that uses the package': [
    ...of('core/resource.ts', 'isProtectedResource'),
    ...of('core/scopes.ts', 'CATALOGUE.fits'),
    ...of('core/scopes/catalogue.ts', 'NAME.fits'),
    ...of('core/options.ts', 'readOptions', 'readStrictOptions', 'checkArgument', 'inheritedName'),
    ...of('core/takes.ts', 'oneOf', 'methods', 'isObject', 'isTaken', 'mustBe', 'came', 'cut'),
    ...of('core/takes.ts', 'isThenable', 'answerFault', 'promisesIn', 'entriesOfAny'),
    ...of('core/takes.ts', 'FUNCTION.fits', 'FLAG.fits', 'NAME.fits', 'TEXT.fits', 'ANYTHING.fits'),
    ...of('metadata/edit/change.ts', 'enumName'),
    ...of('metadata/options.ts', 'checkOptions', 'isPlainObject', 'refuseInherited'),
    ...of('client/client.ts', 'checkClient', 'CLIENT.fits'),
    ...of('client/options.ts', 'readOptions', 'checkArgument', 'SCOPE.fits', 'SIGNAL.fits'),
    ...of('client/fetch/sending.ts', 'prepareSending', 'readInit'),
    ...of('client/tokens/tokens-check.ts', 'checkTokens', 'TOKENS.fits'),
    ...of('client/tokens/tokens-json.ts', 'checkWhole'),
    ...of('client/node/file-lock.ts', 'withFileLock'),
    ...of('client/node/file-token-store.ts', 'fileTokenStore'),
    ...of('client/node/open-browser.ts', 'opener'),
    ...of('client/node/private-file.ts', 'readPrivate', 'replacePrivate', 'removePrivate', 'makePrivateFolder'),
    ...of('client/node/private-file.ts', 'look', 'withFile', 'codeOf'),
    ...of('client/node/untrusted-file.ts', 'readUntrusted', 'readUntrustedSync'),
  ],
  'is given words and addresses of this package and its configuration': [
    ...of('core/errors.ts', 'oauthError', 'configurationError'),
    ...of('protocol/authorization.ts', 'authorizationResponse'),
    ...of('protocol/pages/form-binding.ts', 'browserKeyCookie'),
    ...of('protocol/device.ts', 'deviceAuthorizationResponse'),
    ...of('protocol/introspection.ts', 'introspectionResponse'),
    ...of('protocol/message.ts', 'withAllow'),
    ...of('protocol/metadata.ts', 'metadataResponse'),
    ...of('protocol/pages/page.ts', 'documentResponse', 'imageResponse'),
    ...of('protocol/parameters.ts', 'missing'),
    ...of('core/errors.ts', 'malformed'),
    ...of('protocol/token.ts', 'scopeError'),
    ...of('metadata/check.ts', 'tooDeepError', 'fieldPath'),
    ...of('metadata/errors.ts', 'refuse'),
    ...of('metadata/path.ts', 'refuseJsonName', 'refusePath'),
    ...of('client/http/http.ts', 'ask'),
    ...of('client/errors.ts', 'configurationError'),
    ...of('client/tokens/checked-store.ts', 'storeError'),
    ...of('client/token-endpoint.ts', 'requestTokens'),
    ...of('client/node/callback.ts', 'listenForCallback'),
    ...of('client/node/login-page.ts', 'writeLoginPage'),
  ],
  'is measured within its endpoint, by endpoints.test.ts': [
    ...of('protocol/authorization.ts', 'authorizationClientId', 'authorizationRequest', 'requestedScopes'),
    ...of('protocol/pages/page.ts', 'pageResponse', 'formTargets', 'redirectResponse', 'refreshTo'),
    ...of('protocol/parameters.ts', 'valueIn', 'valuesIn'),
  ],
  'tests each text by a regular expression, which regular-expressions.slow.test.ts proves to be linear': [
    ...of('client/token-endpoint.ts', 'tokensOf'),
  ],
  'is given a text whose length its callers limit': [...of('core/url.ts', 'parseUrl')],
  'is a part of nextStep': [...of('client/fetch/redirects.ts', 'readLocation')],
  'is a part of checkRegistration': [
    ...of('core/application/registration-form.ts', 'createForm', 'ownFields', 'otherFields'),
    ...of('core/application/registration-form.ts', 'BYTES.fits', 'LIST.fits'),
  ],
  'is a part of encodeBase64url and digestOf': [
    ...of('core/credentials/digests.ts', 'portableDigests.sha256', 'portableDigests.hmacSha256'),
  ],
  'is a part of readMetadata, parseText and parseSyntax': [
    ...of('metadata/text/literals.ts', 'decodeBytes', 'decodeString'),
    ...of('metadata/text/text-error.ts', 'textError', 'placeOf'),
    ...of('metadata/text/tree.ts', 'piecesOf'),
    ...of('metadata/text/text.ts', 'decodeText'),
    ...of('metadata/text/unknown-text.ts', 'makeUnknownText'),
  ],
  'is a part of decodeMessage, unknownFields and encodeMessage': [
    ...of('metadata/binary/unknown-fields.ts', 'visitFields', 'encodeUnknownFields'),
    ...of('metadata/check.ts', 'checkMessage', 'isUnknownFields'),
  ],
  'is a part of editText': [
    ...of('metadata/edit/occurrences.ts', 'soleIndex'),
    ...of('metadata/edit/plan.ts', 'makePlan', 'isFields', 'checkNames', 'refuseDuplicate', 'refuseMissingIndex'),
    ...of('metadata/edit/removal.ts', 'removeOccurrences'),
    ...of('metadata/edit/splices.ts', 'applySplices', 'wouldJoin', 'removeFields', 'removePieces', 'removeItems'),
    ...of('metadata/edit/splices.ts', 'skipBlanks', 'lineStart', 'isFirstOnLine', 'restOfLine'),
  ],
  'only calls a function that is measured under its own name': [
    ...of('metadata/codec.ts', 'MetaData.encode', 'MetaData.decode', 'MetaData.toJSON', 'MetaData.fromJSON'),
    ...MESSAGES.flatMap((message) => of('metadata/codec.ts', `${message}.decode`, `${message}.fromJSON`)),
    ...of('metadata/fields.ts', 'locateField'),
  ],
}
