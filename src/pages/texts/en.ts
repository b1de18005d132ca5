/**
 * The texts of all pages in English. Their names and the values in braces are those of every other language.
 * @module
 */
import { enForDevelopers } from './developers/en.js'

/** The texts for users in English. */
export const enForUsers = {
  // `ltr` or `rtl`: the direction in which the language is written.
  direction: 'ltr',

  'page.signedInAs': 'Signed in as {user}',
  'page.switchAccount': 'Not you? Sign in as somebody else',
  'page.backTo': 'Back to {application}',
  'page.faultTitle': 'Error: {title}',
  'page.help': 'Help',
  'page.terms': 'Terms',
  'page.privacy': 'Privacy',

  // Anybody can give an application any name; the host is the part that nobody else could have written.
  'application.ofHost': '{host} calls itself {name}',
  'application.website': 'Website',

  'consent.title': 'Authorize {application}',
  'consent.heading': '{application} wants to access your account',
  'consent.headingOfHost': '{host} calls itself {name} and wants to access your account',
  'consent.description': 'The application says about itself',
  'consent.returnTo': 'You will return to',
  'consent.deviceCode': 'Code on your device',
  'consent.deviceWarning':
    'Agree only if a device that is yours and in front of you shows this very code. It is that device which gets the access.',
  'consent.unreviewedWarning':
    'This application registered itself. Nobody at this service has checked its name. Agree only if you have just started it yourself.',
  'consent.checkedBy': 'Checked by {service} on {day}',
  'consent.checked': 'Checked by the people who run this service on {day}',
  'consent.permissions': 'If you agree, it will be able to',
  'consent.noPermissions': 'do nothing more than know that you agreed.',
  'consent.reasons': 'The application says why it asks for each, in its own words:',
  'consent.before': 'You permitted this application something on {day}. New is marked.',
  'consent.beforeNothingNew': 'You permitted this application something on {day}. Nothing of this is new.',
  'consent.asked': '{application} wants to access the account {user}.',
  'consent.answerGoesTo': 'Your answer goes to {host}.',
  'consent.compareCode': 'Agree only if your own device shows the code {code}.',
  'consent.agree': 'Agree',
  'consent.refuse': 'Refuse',

  'permissions.rw': 'Read and change',
  'permissions.r': 'Read',
  'permissions.new': 'New',
  'permissions.worksAt': 'Works only at',

  'resources.title': 'Where it may do this',
  'resources.question': 'Where may it do this?',
  'resources.all': 'All resources of your account',
  'resources.public': 'All public resources of your account',
  'resources.specified': 'Only the resources that you choose',
  'resources.list': 'Resources',
  'resources.skip': 'Skip the list of resources',
  'resources.notShown': {
    one: 'You have {count} more, which cannot be chosen here.',
    other: 'You have {count} more, which cannot be chosen here.',
  },
  'resources.search': 'Search by name',
  'resources.find': 'Search',
  'resources.noneFound': 'None of your resources was found with these words.',
  'resources.notListed': {
    one: 'There is {count} more. Search for it by its name.',
    other: 'There are {count} more. Search for them by their names.',
  },
  'resources.none': 'You have no resources to choose from.',
  'resources.noneShown': 'None of your resources can be chosen here.',
  'resources.choose': 'Choose which resources the application may use: at least one, and at most {most}.',

  'device.title': 'Connect a device',
  'device.enter':
    'Enter the code that your device shows. Before anything is shared, you will see which application asks for what.',
  'device.field': 'Code on your device',
  'device.hint': '{length} letters, such as {example}',
  'device.compare':
    'The link that brought you here has this code in it. Compare it with the code that your device shows.',
  'device.compareAdvice':
    'Continue only if the two are the same and you started this yourself. Otherwise close this page.',
  'device.warning':
    'Only use a code from a device that is yours and in front of you. Nobody from this service will ever send you a code: whoever does wants to get into your account.',
  'device.continue': 'Continue',
  'device.continueEntered': 'Continue only with a code from your own device, never with one that somebody sent you.',
  'device.continueCompared': 'Continue only if your own device shows the code {code}.',
  'device.unknownCode':
    'This code is not known, or no longer valid. Compare it with your device, or start again there.',
  'device.tooManyCodes': {
    one: 'Too many codes were tried. Wait a minute, and try again.',
    other: 'Too many codes were tried. Wait {count} minutes, and try again.',
  },
  'device.agreedTitle': 'Your device is connected',
  'device.agreed': '{application} has the access that you agreed to. Go back to your device; this page can be closed.',
  'device.refusedTitle': 'Nothing was shared',
  'device.refused': 'You refused {application} the access that it asked for. This page can be closed.',

  'applications.title': 'Authorized applications',
  'applications.introduction':
    'You permitted these applications to access your account. “Last used” is when an application last got or renewed its access; what it does with it in between is not shown here. Days are those of UTC.',
  'applications.none': 'No application has access to your account.',
  'applications.next': 'More applications',
  'applications.incomplete': 'Some applications with access cannot be shown at present.',
  'applications.more': 'There are more than these. Take access back from some, and the others will be shown.',
  'applications.suspended': 'The administrators stopped it: it can do nothing at present.',
  'applications.noPermissions': 'It can do nothing more than know that you agreed.',
  'applications.where': 'Where',
  'applications.permitted': 'Permitted',
  'applications.lastUsed': 'Last used',
  'applications.neverUsed': 'Never',
  'applications.ends': 'Ends',
  'applications.endsOn': '{day}, unless the application renews it',
  'applications.older': {
    one: 'You permitted it something once before:',
    other: 'You permitted it something {count} times before. In all:',
  },
  'applications.noResource': 'No resource',
  'applications.resources': { one: '{count} resource', other: '{count} resources' },
  'applications.resourcesOrMore': { one: '{count} or more resources', other: '{count} or more resources' },
  'applications.notShown': { one: '{count} more', other: '{count} more' },
  'applications.notShownOrMore': { one: '{count} or more others', other: '{count} or more others' },
  'applications.revoke': 'Revoke access',
  // The name for assistive technology. It has the words of `applications.revoke` in it (WCAG 2.2, success criterion 2.5.3).
  'applications.revokeOf': 'Revoke access of {application}',
  'applications.choose': 'Choose {application}',
  'applications.revokeChosen': 'Revoke access of the chosen ones',
  'applications.chooseOne': 'Choose at least one application.',
  'applications.revoked': {
    one: 'Access was revoked: {count} application.',
    other: 'Access was revoked: {count} applications.',
  },

  'error.linkTitle': 'This link cannot be accessed',
  'error.link':
    'The link that brought you here is incomplete, or the application may not use it. Nothing was shared. Go back to the application and try again; if that does not help, tell the people who run it.',
  'error.consentForm':
    'This form was sent before, is too old, or belongs to another session. Go back to the application and start again.',
  'error.deviceForm':
    'This form was sent before, is too old, or belongs to another session. Start again on your device.',
  'error.applicationsForm':
    'This form is too old, or belongs to another session. Nothing was changed. Open the page again.',
  'error.notApprovedTitle': 'This application is not approved',
  'error.notApproved':
    'It waits for the people who run this service, or they refused it. Nothing was shared. Try again later.',
  'error.clientRefusedTitle': 'This service does not take this application',
  'error.clientRefused': 'Nothing was shared. If you think that it should, tell the people who run this service.',
  'error.hostRefusedTitle': 'The service does not permit this',
  'error.hostRefused':
    'It does not let this account give this application what it asks for. Nothing was shared. Ask the people who run this service.',
  'error.clientUnreadableTitle': 'This application cannot be read',
  'error.clientUnreadable':
    'It did not say what it is, or said it wrong. Nothing was shared. Tell the people who run the application.',
  'error.notFoundTitle': 'There is nothing here',
  'error.notFound': 'This page does not exist, or it is not for you.',
  'error.forbiddenTitle': 'This page is for administrators',
  'error.forbidden': 'Nothing was changed. Sign in as an administrator to open it.',
  'error.detail': 'You see this because you handed in the application. The parameter {parameter} of the link is wrong:',
  'error.busyTitle': 'The service is busy',
  'error.busy': 'Please try again in a moment.',
  'error.signedOutTitle': 'You were signed out',
  'error.signedOut': 'Nothing was changed. Sign in again to go on.',
  'error.signIn': 'Sign in',

  // The scopes of the specification, as `serviceScopes` describes them.
  'scope.repo-code': 'Repository code through Git commands',
  'scope.repo-pr': 'Pull requests',
  'scope.repo-issue': 'Issues',
  'scope.repo-notes': 'Comments on issues and pull requests',
  'scope.repo-release': 'Tags and releases',
  'scope.repo-commit-status': 'Pipeline status, badges, commit metadata',
  'scope.repo-trigger': 'Query, trigger and run cloud-native build and cloud-native development',
  'scope.repo-history': 'Pipeline build history',
  'scope.repo-detail': 'Query or delete cloud-native development spaces',
  'scope.repo-basic-info': 'Basic repository info (name, description, language, license)',
  'scope.repo-manage': 'Repository members and settings',
  'scope.repo-delete': 'Delete a repository',
  'scope.repo-security': 'Repository security module data',
  'scope.registry-package': 'Artifacts',
  'scope.registry-package-delete': 'Delete artifacts',
  'scope.registry-security': 'Package security, license and SBOM data',
  'scope.registry-manage': 'Artifact registry members and settings',
  'scope.registry-delete': 'Delete an artifact registry',
  'scope.account-profile': 'User profile',
  'scope.account-email': "The user's verified email",
  'scope.account-engage': 'Followed repositories, followers, cloud-native development environments, and similar',
  'scope.group-resource': 'Sub-organizations, repositories, artifact registries and mission sets under an organization',
  'scope.group-manage': 'Organization members, repository wall, organization settings',
  'scope.group-delete': 'Delete an organization',
  'scope.mission-delete': 'Delete a mission set',
  'scope.mission-manage': 'Access a mission set',
} as const

/** The texts in English. */
export const en: typeof enForUsers & typeof enForDevelopers = { ...enForUsers, ...enForDevelopers }
