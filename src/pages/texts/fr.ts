/**
 * The texts of all pages in French.
 * @module
 */
import { frForDevelopers } from './developers/fr.js'
import type { Texts } from './texts.js'

/** The texts in French. */
export const fr: Texts = {
  direction: 'ltr',

  'page.signedInAs': 'Vous utilisez le compte {user}',
  'page.switchAccount': 'Ce n’est pas vous\u202f? Utiliser un autre compte',
  'page.backTo': 'Retour à {application}',
  'page.faultTitle': 'Erreur\u00a0: {title}',
  'page.help': 'Aide',
  'page.terms': 'Conditions d’utilisation',
  'page.privacy': 'Confidentialité',

  'application.ofHost': '{host} se présente sous le nom {name}',
  'application.website': 'Site web',

  'consent.title': 'Autoriser {application}',
  'consent.heading': '{application} souhaite accéder à votre compte',
  'consent.headingOfHost': '{host} se présente sous le nom {name} et souhaite accéder à votre compte',
  'consent.description': 'L’application se décrit ainsi',
  'consent.returnTo': 'Vous retournerez sur',
  'consent.deviceCode': 'Code affiché sur votre appareil',
  'consent.deviceWarning':
    'N’acceptez que si un appareil qui vous appartient et qui se trouve devant vous affiche exactement ce code. C’est cet appareil qui obtiendra l’accès.',
  'consent.unreviewedWarning':
    'Cette application s’est enregistrée elle-même. Personne au sein de ce service n’a vérifié son nom. N’acceptez que si vous venez de la lancer vous-même.',
  'consent.checkedBy': 'Vérifiée par {service} le {day}',
  'consent.checked': 'Vérifiée par les responsables de ce service le {day}',
  'consent.permissions': 'Si vous acceptez, l’application pourra',
  'consent.noPermissions': 'uniquement savoir que vous avez accepté.',
  'consent.reasons': 'L’application explique elle-même chaque demande, avec ses propres mots\u00a0:',
  'consent.before': 'Vous avez accordé un accès à cette application le {day}. Les nouveautés sont signalées.',
  'consent.beforeNothingNew': 'Vous avez accordé un accès à cette application le {day}. Rien de ceci n’est nouveau.',
  'consent.asked': '{application} souhaite accéder au compte {user}.',
  'consent.answerGoesTo': 'Votre réponse sera envoyée à {host}.',
  'consent.compareCode': 'N’acceptez que si votre propre appareil affiche le code {code}.',
  'consent.agree': 'Accepter',
  'consent.refuse': 'Refuser',

  'permissions.rw': 'Lire et modifier',
  'permissions.r': 'Lire',
  'permissions.new': 'Nouveau',
  'permissions.worksAt': 'Valable uniquement sur',

  'resources.title': 'Où l’application pourra le faire',
  'resources.question': 'Où l’application pourra-t-elle le faire\u202f?',
  'resources.all': 'Toutes les ressources de votre compte',
  'resources.public': 'Toutes les ressources publiques de votre compte',
  'resources.specified': 'Uniquement les ressources que vous choisissez',
  'resources.list': 'Ressources',
  'resources.skip': 'Passer la liste des ressources',
  'resources.notShown': {
    one: 'Vous avez une autre ressource, qui ne peut pas être choisie ici.',
    many: 'Vous avez {count} d’autres ressources, qui ne peuvent pas être choisies ici.',
    other: 'Vous avez {count} autres ressources, qui ne peuvent pas être choisies ici.',
  },
  'resources.search': 'Rechercher par nom',
  'resources.find': 'Rechercher',
  'resources.noneFound': 'Aucune de vos ressources ne correspond à ces mots.',
  'resources.notListed': {
    one: 'Il y en a {count} de plus. Recherchez-la par son nom.',
    many: 'Il y en a {count} de plus. Recherchez-les par leur nom.',
    other: 'Il y en a {count} de plus. Recherchez-les par leur nom.',
  },
  'resources.none': 'Vous n’avez aucune ressource à choisir.',
  'resources.noneShown': 'Aucune de vos ressources ne peut être choisie ici.',
  'resources.choose':
    'Choisissez les ressources que l’application pourra utiliser\u00a0: au moins une, et {most} au maximum.',

  'device.title': 'Connecter un appareil',
  'device.enter':
    'Saisissez le code affiché sur votre appareil. Avant tout partage, vous verrez quelle application demande quel accès.',
  'device.field': 'Code affiché sur votre appareil',
  'device.hint': '{length} lettres, par exemple {example}',
  'device.compare':
    'Le lien que vous avez suivi contient ce code. Comparez-le avec celui qui est affiché sur votre appareil.',
  'device.compareAdvice':
    'Ne continuez que si les deux codes sont identiques et si vous êtes à l’origine de cette demande. Sinon, fermez cette page.',
  'device.warning':
    'N’utilisez que le code d’un appareil qui vous appartient et qui se trouve devant vous. Personne au sein de ce service ne vous enverra jamais de code\u00a0: quiconque le fait cherche à accéder à votre compte.',
  'device.continue': 'Continuer',
  'device.continueEntered':
    'Ne continuez qu’avec un code affiché sur votre propre appareil, jamais avec un code que quelqu’un vous a envoyé.',
  'device.continueCompared': 'Ne continuez que si votre propre appareil affiche le code {code}.',
  'device.unknownCode':
    'Ce code est inconnu ou n’est plus valable. Comparez-le avec celui de votre appareil, ou recommencez sur l’appareil.',
  'device.tooManyCodes': {
    one: 'Trop de codes ont été essayés. Attendez {count} minute, puis réessayez.',
    many: 'Trop de codes ont été essayés. Attendez {count} de minutes, puis réessayez.',
    other: 'Trop de codes ont été essayés. Attendez {count} minutes, puis réessayez.',
  },
  'device.agreedTitle': 'Votre appareil est connecté',
  'device.agreed':
    '{application} dispose maintenant de l’accès que vous avez accepté. Retournez à votre appareil. Vous pouvez fermer cette page.',
  'device.refusedTitle': 'Rien n’a été partagé',
  'device.refused': 'Vous avez refusé à {application} l’accès demandé. Vous pouvez fermer cette page.',

  'applications.title': 'Applications autorisées',
  'applications.introduction':
    'Vous avez autorisé ces applications à accéder à votre compte. «\u00a0Dernière utilisation\u00a0» indique quand une application a obtenu ou renouvelé son accès pour la dernière fois. Ce qu’elle en fait entre-temps n’est pas affiché ici. Les dates sont en UTC.',
  'applications.none': 'Aucune application n’a accès à votre compte.',
  'applications.next': 'Autres applications',
  'applications.incomplete':
    'Certaines applications ayant accès à votre compte ne peuvent pas être affichées pour le moment.',
  'applications.more': 'Il existe d’autres applications. Révoquez certains accès pour les afficher.',
  'applications.suspended': 'Les administrateurs ont bloqué cette application. Elle ne peut rien faire pour le moment.',
  'applications.noPermissions': 'L’application peut uniquement savoir que vous avez accepté.',
  'applications.where': 'S’applique à',
  'applications.permitted': 'Accès accordé le',
  'applications.lastUsed': 'Dernière utilisation',
  'applications.neverUsed': 'Jamais',
  'applications.ends': 'Prend fin le',
  'applications.endsOn': '{day}, sauf si l’application renouvelle son accès',
  'applications.older': {
    one: 'Vous aviez déjà autorisé cette application une fois\u00a0:',
    many: 'Vous aviez déjà autorisé cette application {count} de fois. Au total\u00a0:',
    other: 'Vous aviez déjà autorisé cette application {count} fois. Au total\u00a0:',
  },
  'applications.noResource': 'Aucune ressource',
  'applications.resources': { one: '{count} ressource', many: '{count} de ressources', other: '{count} ressources' },
  'applications.resourcesOrMore': {
    one: 'Au moins {count} ressource',
    many: 'Au moins {count} de ressources',
    other: 'Au moins {count} ressources',
  },
  'applications.notShown': { one: '{count} autre', many: '{count} d’autres', other: '{count} autres' },
  'applications.notShownOrMore': {
    one: 'Au moins {count} autre',
    many: 'Au moins {count} d’autres',
    other: 'Au moins {count} autres',
  },
  'applications.revoke': 'Révoquer l’accès',
  'applications.revokeOf': 'Révoquer l’accès de l’application {application}',
  'applications.choose': 'Sélectionner {application}',
  'applications.revokeChosen': 'Révoquer l’accès des applications sélectionnées',
  'applications.chooseOne': 'Sélectionnez au moins une application.',
  'applications.revoked': {
    one: 'Accès révoqué\u00a0: {count} application.',
    many: 'Accès révoqué\u00a0: {count} d’applications.',
    other: 'Accès révoqué\u00a0: {count} applications.',
  },

  'error.linkTitle': 'Ce lien n’est pas accessible',
  'error.link':
    'Le lien que vous avez suivi est incomplet, ou l’application n’a pas le droit de l’utiliser. Rien n’a été partagé. Retournez à l’application et réessayez. Si le problème persiste, contactez les responsables de l’application.',
  'error.consentForm':
    'Ce formulaire a déjà été envoyé, est trop ancien ou appartient à une autre session. Retournez à l’application et recommencez.',
  'error.deviceForm':
    'Ce formulaire a déjà été envoyé, est trop ancien ou appartient à une autre session. Recommencez sur votre appareil.',
  'error.applicationsForm':
    'Ce formulaire est trop ancien ou appartient à une autre session. Rien n’a été modifié. Ouvrez à nouveau la page.',
  'error.notApprovedTitle': 'Cette application n’est pas approuvée',
  'error.notApproved':
    'Les responsables de ce service ne l’ont pas encore approuvée, ou l’ont refusée. Rien n’a été partagé. Réessayez plus tard.',
  'error.clientRefusedTitle': 'Ce service n’accepte pas cette application',
  'error.clientRefused':
    'Rien n’a été partagé. Si vous pensez que cette application devrait être acceptée, contactez les responsables de ce service.',
  'error.hostRefusedTitle': 'Le service ne le permet pas',
  'error.hostRefused':
    'Ce compte ne peut pas accorder à cette application ce qu’elle demande. Rien n’a été partagé. Adressez-vous aux responsables de ce service.',
  'error.clientUnreadableTitle': 'Les informations de cette application sont illisibles',
  'error.clientUnreadable':
    'L’application n’a pas indiqué ce qu’elle est, ou l’a mal indiqué. Rien n’a été partagé. Contactez les responsables de l’application.',
  'error.notFoundTitle': 'Il n’y a rien ici',
  'error.notFound': 'Cette page n’existe pas, ou elle ne vous est pas destinée.',
  'error.forbiddenTitle': 'Cette page est réservée aux administrateurs',
  'error.forbidden': 'Rien n’a été modifié. Connectez-vous en tant qu’administrateur pour l’ouvrir.',
  'error.detail':
    'Vous voyez ceci parce que vous avez soumis l’application. Le paramètre {parameter} du lien est incorrect :',
  'error.busyTitle': 'Le service est surchargé',
  'error.busy': 'Veuillez réessayer dans un instant.',
  'error.signedOutTitle': 'Votre session a été fermée',
  'error.signedOut': 'Rien n’a été modifié. Reconnectez-vous pour continuer.',
  'error.signIn': 'Se connecter',

  'scope.repo-code': 'Code des dépôts via les commandes Git',
  'scope.repo-pr': 'Demandes de fusion',
  'scope.repo-issue': 'Tickets',
  'scope.repo-notes': 'Commentaires sur les tickets et les demandes de fusion',
  'scope.repo-release': 'Tags et releases',
  'scope.repo-commit-status': 'État des pipelines, badges, métadonnées des commits',
  'scope.repo-trigger': 'Consulter, déclencher et exécuter les builds et le développement cloud-native',
  'scope.repo-history': 'Historique des builds des pipelines',
  'scope.repo-detail': 'Consulter ou supprimer des espaces de développement cloud-native',
  'scope.repo-basic-info': 'Informations de base des dépôts (nom, description, langage, licence)',
  'scope.repo-manage': 'Membres et paramètres des dépôts',
  'scope.repo-delete': 'Supprimer un dépôt',
  'scope.repo-security': 'Données du module de sécurité des dépôts',
  'scope.registry-package': 'Artefacts',
  'scope.registry-package-delete': 'Supprimer des artefacts',
  'scope.registry-security': 'Données de sécurité, de licence et SBOM des paquets',
  'scope.registry-manage': 'Membres et paramètres des registres d’artefacts',
  'scope.registry-delete': 'Supprimer un registre d’artefacts',
  'scope.account-profile': 'Profil utilisateur',
  'scope.account-email': 'Adresse e-mail vérifiée du compte',
  'scope.account-engage': 'Dépôts suivis, abonnés, environnements de développement cloud-native, etc.',
  'scope.group-resource': 'Sous-organisations, dépôts, registres d’artefacts et ensembles de tâches d’une organisation',
  'scope.group-manage': 'Membres, mur des dépôts et paramètres des organisations',
  'scope.group-delete': 'Supprimer une organisation',
  'scope.mission-delete': 'Supprimer un ensemble de tâches',
  'scope.mission-manage': 'Accéder à un ensemble de tâches',

  ...frForDevelopers,
}
