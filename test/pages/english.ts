/** The pages in English, by their models alone. */
import type {
  AuthorizedApplicationsPageModel,
  ConsentPageModel,
  DevicePageModel,
  DeviceResultPageModel,
  ErrorPageModel,
} from 'grantwell/pages'
import { defaultPages } from 'grantwell/pages'

export const consentPage = (model: ConsentPageModel): string => defaultPages.consent({ model })
export const devicePage = (model: DevicePageModel): string => defaultPages.device({ model })
export const deviceResultPage = (model: DeviceResultPageModel): string => defaultPages.deviceResult({ model })
export const errorPage = (model: Omit<ErrorPageModel, 'code'>): string =>
  defaultPages.error({ model: { code: 'link', ...model } })
/** The words for an authorization request with wrong parameters (specification, section 4.1). */
export const inaccessibleLink: Readonly<Pick<ErrorPageModel, 'title' | 'message'>> = {
  title: 'This link cannot be accessed',
  message:
    'The link that brought you here is incomplete, or the application may not use it. ' +
    'Nothing was shared. Go back to the application and try again; if that does not help, tell the people who run it.',
}

export const authorizedApplicationsPage = (model: AuthorizedApplicationsPageModel): string =>
  defaultPages.authorizedApplications({ model })
