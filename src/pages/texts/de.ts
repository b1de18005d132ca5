/**
 * The texts of all pages in German.
 * @module
 */
import { deForDevelopers } from './developers/de.js'
import type { Texts } from './texts.js'

/** The texts in German. */
export const de: Texts = {
  direction: 'ltr',

  'page.signedInAs': 'Angemeldet als {user}',
  'page.switchAccount': 'Nicht Sie? Mit einem anderen Konto anmelden',
  'page.backTo': 'Zurück zu {application}',
  'page.faultTitle': 'Fehler: {title}',
  'page.help': 'Hilfe',
  'page.terms': 'Nutzungsbedingungen',
  'page.privacy': 'Datenschutz',

  'application.ofHost': '{host} nennt sich {name}',
  'application.website': 'Website',

  'consent.title': '{application} autorisieren',
  'consent.heading': '{application} möchte auf Ihr Konto zugreifen',
  'consent.headingOfHost': '{host} nennt sich {name} und möchte auf Ihr Konto zugreifen',
  'consent.description': 'Die Anwendung über sich selbst',
  'consent.returnTo': 'Sie kehren zurück zu',
  'consent.deviceCode': 'Code auf Ihrem Gerät',
  'consent.deviceWarning':
    'Stimmen Sie nur zu, wenn ein Gerät, das Ihnen gehört und das Sie vor sich haben, genau diesen Code anzeigt. Dieses Gerät erhält den Zugriff.',
  'consent.unreviewedWarning':
    'Diese Anwendung hat sich selbst registriert. Niemand bei diesem Dienst hat ihren Namen geprüft. Stimmen Sie nur zu, wenn Sie sie gerade selbst gestartet haben.',
  'consent.checkedBy': 'Geprüft von {service} am {day}',
  'consent.checked': 'Geprüft vom Betreiber dieses Dienstes am {day}',
  'consent.permissions': 'Wenn Sie zustimmen, kann die Anwendung',
  'consent.noPermissions': 'nur erfahren, dass Sie zugestimmt haben.',
  'consent.reasons': 'Wozu sie das jeweils braucht, sagt die Anwendung in eigenen Worten:',
  'consent.before': 'Sie haben dieser Anwendung am {day} etwas erlaubt. Neues ist markiert.',
  'consent.beforeNothingNew': 'Sie haben dieser Anwendung am {day} etwas erlaubt. Nichts davon ist neu.',
  'consent.asked': '{application} möchte auf das Konto {user} zugreifen.',
  'consent.answerGoesTo': 'Ihre Antwort geht an {host}.',
  'consent.compareCode': 'Stimmen Sie nur zu, wenn Ihr eigenes Gerät den Code {code} anzeigt.',
  'consent.agree': 'Zustimmen',
  'consent.refuse': 'Ablehnen',

  'permissions.rw': 'Lesen und ändern',
  'permissions.r': 'Lesen',
  'permissions.new': 'Neu',
  'permissions.worksAt': 'Nur gültig bei',

  'resources.title': 'Wo die Anwendung das darf',
  'resources.question': 'Wo darf die Anwendung das?',
  'resources.all': 'Alle Ressourcen Ihres Kontos',
  'resources.public': 'Alle öffentlichen Ressourcen Ihres Kontos',
  'resources.specified': 'Nur die Ressourcen, die Sie auswählen',
  'resources.list': 'Ressourcen',
  'resources.skip': 'Liste der Ressourcen überspringen',
  'resources.notShown': {
    one: 'Sie haben eine weitere Ressource, die hier nicht ausgewählt werden kann.',
    other: 'Sie haben {count} weitere Ressourcen, die hier nicht ausgewählt werden können.',
  },
  'resources.search': 'Nach Namen suchen',
  'resources.find': 'Suchen',
  'resources.noneFound': 'Mit diesen Wörtern wurde keine Ihrer Ressourcen gefunden.',
  'resources.notListed': {
    one: 'Es gibt {count} weitere. Suchen Sie nach ihrem Namen.',
    other: 'Es gibt {count} weitere. Suchen Sie nach ihren Namen.',
  },
  'resources.none': 'Sie haben keine Ressourcen, die Sie auswählen könnten.',
  'resources.noneShown': 'Keine Ihrer Ressourcen kann hier ausgewählt werden.',
  'resources.choose':
    'Wählen Sie aus, welche Ressourcen die Anwendung verwenden darf: mindestens eine, höchstens {most}.',

  'device.title': 'Gerät verbinden',
  'device.enter':
    'Geben Sie den Code ein, den Ihr Gerät anzeigt. Bevor etwas weitergegeben wird, sehen Sie, welche Anwendung welchen Zugriff anfordert.',
  'device.field': 'Code auf Ihrem Gerät',
  'device.hint': '{length} Buchstaben, zum Beispiel {example}',
  'device.compare':
    'Der Link, über den Sie hierhergekommen sind, enthält diesen Code. Vergleichen Sie ihn mit dem Code, den Ihr Gerät anzeigt.',
  'device.compareAdvice':
    'Fahren Sie nur fort, wenn beide Codes übereinstimmen und Sie den Vorgang selbst gestartet haben. Schließen Sie andernfalls diese Seite.',
  'device.warning':
    'Verwenden Sie nur den Code eines Geräts, das Ihnen gehört und das Sie vor sich haben. Niemand von diesem Dienst wird Ihnen jemals einen Code senden. Wer das tut, will sich Zugang zu Ihrem Konto verschaffen.',
  'device.continue': 'Weiter',
  'device.continueEntered':
    'Fahren Sie nur mit einem Code von Ihrem eigenen Gerät fort, nie mit einem Code, den Ihnen jemand gesendet hat.',
  'device.continueCompared': 'Fahren Sie nur fort, wenn Ihr eigenes Gerät den Code {code} anzeigt.',
  'device.unknownCode':
    'Dieser Code ist unbekannt oder nicht mehr gültig. Vergleichen Sie ihn mit dem Code auf Ihrem Gerät oder beginnen Sie dort von vorn.',
  'device.tooManyCodes': {
    one: 'Es wurden zu viele Codes ausprobiert. Warten Sie eine Minute, und versuchen Sie es dann erneut.',
    other: 'Es wurden zu viele Codes ausprobiert. Warten Sie {count} Minuten, und versuchen Sie es dann erneut.',
  },
  'device.agreedTitle': 'Ihr Gerät ist verbunden',
  'device.agreed':
    '{application} hat jetzt den Zugriff, dem Sie zugestimmt haben. Kehren Sie zu Ihrem Gerät zurück. Sie können diese Seite schließen.',
  'device.refusedTitle': 'Es wurde nichts weitergegeben',
  'device.refused': 'Sie haben {application} den angeforderten Zugriff verweigert. Sie können diese Seite schließen.',

  'applications.title': 'Autorisierte Anwendungen',
  'applications.introduction':
    'Sie haben diesen Anwendungen Zugriff auf Ihr Konto gewährt. „Zuletzt verwendet“ gibt an, wann eine Anwendung ihren Zugriff zuletzt erhalten oder erneuert hat. Was sie dazwischen damit macht, wird hier nicht angezeigt. Alle Datumsangaben beziehen sich auf UTC.',
  'applications.none': 'Keine Anwendung hat Zugriff auf Ihr Konto.',
  'applications.next': 'Weitere Anwendungen',
  'applications.incomplete': 'Einige Anwendungen mit Zugriff können derzeit nicht angezeigt werden.',
  'applications.more':
    'Es gibt noch weitere Anwendungen. Entziehen Sie einigen den Zugriff, dann werden die übrigen angezeigt.',
  'applications.suspended': 'Die Administration hat diese Anwendung gesperrt. Sie kann derzeit nichts tun.',
  'applications.noPermissions': 'Die Anwendung kann nur erfahren, dass Sie zugestimmt haben.',
  'applications.where': 'Gilt für',
  'applications.permitted': 'Gewährt am',
  'applications.lastUsed': 'Zuletzt verwendet',
  'applications.neverUsed': 'Nie',
  'applications.ends': 'Endet am',
  'applications.endsOn': '{day}, sofern die Anwendung den Zugriff nicht erneuert',
  'applications.older': {
    one: 'Sie haben dieser Anwendung früher schon einmal Zugriff gewährt:',
    other: 'Sie haben dieser Anwendung früher schon {count}-mal Zugriff gewährt. Insgesamt:',
  },
  'applications.noResource': 'Keine Ressource',
  'applications.resources': { one: '{count} Ressource', other: '{count} Ressourcen' },
  'applications.resourcesOrMore': { one: 'Mindestens {count} Ressource', other: 'Mindestens {count} Ressourcen' },
  'applications.notShown': { one: '{count} weitere', other: '{count} weitere' },
  'applications.notShownOrMore': { one: 'Mindestens {count} weitere', other: 'Mindestens {count} weitere' },
  'applications.revoke': 'Zugriff entziehen',
  'applications.revokeOf': 'Zugriff entziehen: {application}',
  'applications.choose': '{application} auswählen',
  'applications.revokeChosen': 'Ausgewählten den Zugriff entziehen',
  'applications.chooseOne': 'Wählen Sie mindestens eine Anwendung aus.',
  'applications.revoked': {
    one: 'Der Zugriff wurde entzogen: {count} Anwendung.',
    other: 'Der Zugriff wurde entzogen: {count} Anwendungen.',
  },

  'error.linkTitle': 'Dieser Link kann nicht geöffnet werden',
  'error.link':
    'Der Link, über den Sie hierhergekommen sind, ist unvollständig, oder die Anwendung darf ihn nicht verwenden. Es wurde nichts weitergegeben. Kehren Sie zur Anwendung zurück und versuchen Sie es noch einmal. Wenn das nicht hilft, wenden Sie sich an die Betreiber der Anwendung.',
  'error.consentForm':
    'Dieses Formular wurde bereits gesendet, ist zu alt oder gehört zu einer anderen Sitzung. Kehren Sie zur Anwendung zurück und beginnen Sie von vorn.',
  'error.deviceForm':
    'Dieses Formular wurde bereits gesendet, ist zu alt oder gehört zu einer anderen Sitzung. Beginnen Sie auf Ihrem Gerät von vorn.',
  'error.applicationsForm':
    'Dieses Formular ist zu alt oder gehört zu einer anderen Sitzung. Es wurde nichts geändert. Öffnen Sie die Seite noch einmal.',
  'error.notApprovedTitle': 'Diese Anwendung ist nicht freigegeben',
  'error.notApproved':
    'Sie wartet noch auf die Freigabe durch die Betreiber dieses Dienstes oder wurde von ihnen abgelehnt. Es wurde nichts weitergegeben. Versuchen Sie es später noch einmal.',
  'error.clientRefusedTitle': 'Dieser Dienst lässt diese Anwendung nicht zu',
  'error.clientRefused':
    'Es wurde nichts weitergegeben. Wenn Sie meinen, dass die Anwendung zugelassen werden sollte, wenden Sie sich an die Betreiber dieses Dienstes.',
  'error.hostRefusedTitle': 'Der Dienst erlaubt das nicht',
  'error.hostRefused':
    'Mit diesem Konto darf dieser Anwendung nicht gegeben werden, worum sie bittet. Es wurde nichts freigegeben. Wenden Sie sich an die Betreiber dieses Dienstes.',
  'error.clientUnreadableTitle': 'Die Angaben dieser Anwendung sind nicht lesbar',
  'error.clientUnreadable':
    'Die Anwendung hat keine oder fehlerhafte Angaben über sich gemacht. Es wurde nichts weitergegeben. Wenden Sie sich an die Betreiber der Anwendung.',
  'error.notFoundTitle': 'Hier ist nichts',
  'error.notFound': 'Diese Seite gibt es nicht, oder sie ist nicht für Sie.',
  'error.forbiddenTitle': 'Diese Seite ist für die Verwaltung',
  'error.forbidden': 'Es wurde nichts geändert. Melden Sie sich mit einem Verwaltungskonto an, um sie zu öffnen.',
  'error.detail':
    'Sie sehen dies, weil Sie die Anwendung eingereicht haben. Der Parameter {parameter} des Links ist falsch:',
  'error.busyTitle': 'Der Dienst ist ausgelastet',
  'error.busy': 'Bitte versuchen Sie es gleich noch einmal.',
  'error.signedOutTitle': 'Sie wurden abgemeldet',
  'error.signedOut': 'Es wurde nichts geändert. Melden Sie sich wieder an, um fortzufahren.',
  'error.signIn': 'Anmelden',

  'scope.repo-code': 'Repository-Code über Git-Befehle',
  'scope.repo-pr': 'Änderungsvorschläge (Pull-Requests)',
  'scope.repo-issue': 'Aufgaben und Fehlermeldungen',
  'scope.repo-notes': 'Kommentare zu Aufgaben, Fehlermeldungen und Änderungsvorschlägen',
  'scope.repo-release': 'Tags und Releases',
  'scope.repo-commit-status': 'Pipeline-Status, Badges, Commit-Metadaten',
  'scope.repo-trigger': 'Cloud-native Builds und cloud-native Entwicklung abfragen, auslösen und ausführen',
  'scope.repo-history': 'Build-Verlauf der Pipelines',
  'scope.repo-detail': 'Cloud-native Entwicklungsbereiche abfragen oder löschen',
  'scope.repo-basic-info': 'Grundlegende Repository-Informationen (Name, Beschreibung, Sprache, Lizenz)',
  'scope.repo-manage': 'Mitglieder und Einstellungen von Repositorys',
  'scope.repo-delete': 'Repository löschen',
  'scope.repo-security': 'Daten des Sicherheitsmoduls von Repositorys',
  'scope.registry-package': 'Artefakte',
  'scope.registry-package-delete': 'Artefakte löschen',
  'scope.registry-security': 'Sicherheits-, Lizenz- und SBOM-Daten von Paketen',
  'scope.registry-manage': 'Mitglieder und Einstellungen von Artefakt-Registrys',
  'scope.registry-delete': 'Artefakt-Registry löschen',
  'scope.account-profile': 'Benutzerprofil',
  'scope.account-email': 'Bestätigte E-Mail-Adresse des Kontos',
  'scope.account-engage': 'Abonnierte Repositorys, Follower, cloud-native Entwicklungsumgebungen und Ähnliches',
  'scope.group-resource':
    'Unterorganisationen, Repositorys, Artefakt-Registrys und Aufgabensammlungen einer Organisation',
  'scope.group-manage': 'Mitglieder, Repository-Pinnwand und Einstellungen von Organisationen',
  'scope.group-delete': 'Organisation löschen',
  'scope.mission-delete': 'Aufgabensammlung löschen',
  'scope.mission-manage': 'Zugriff auf eine Aufgabensammlung',

  ...deForDevelopers,
}
