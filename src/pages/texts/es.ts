/**
 * The texts of all pages in Spanish.
 * @module
 */
import { esForDevelopers } from './developers/es.js'
import type { Texts } from './texts.js'

/** The texts in Spanish. */
export const es: Texts = {
  direction: 'ltr',

  'page.signedInAs': 'Ha iniciado sesión como {user}',
  'page.switchAccount': '¿No es usted? Iniciar sesión con otra cuenta',
  'page.backTo': 'Volver a {application}',
  'page.faultTitle': 'Error: {title}',
  'page.help': 'Ayuda',
  'page.terms': 'Condiciones de uso',
  'page.privacy': 'Privacidad',

  'application.ofHost': '{host} se presenta como {name}',
  'application.website': 'Sitio web',

  'consent.title': 'Autorizar {application}',
  'consent.heading': '{application} quiere acceder a su cuenta',
  'consent.headingOfHost': '{host} se presenta como {name} y quiere acceder a su cuenta',
  'consent.description': 'La aplicación se describe así',
  'consent.returnTo': 'Volverá a',
  'consent.deviceCode': 'Código de su dispositivo',
  'consent.deviceWarning':
    'Acepte solo si un dispositivo suyo, que tiene delante, muestra exactamente este código. Ese dispositivo es el que obtendrá el acceso.',
  'consent.unreviewedWarning':
    'Esta aplicación se ha registrado por sí misma. Nadie de este servicio ha comprobado su nombre. Acepte solo si usted acaba de abrirla.',
  'consent.checkedBy': 'Revisada por {service} el {day}',
  'consent.checked': 'Revisada por los responsables de este servicio el {day}',
  'consent.permissions': 'Si acepta, la aplicación podrá',
  'consent.noPermissions': 'únicamente saber que usted ha aceptado.',
  'consent.reasons': 'La aplicación explica con sus propias palabras por qué pide cada permiso:',
  'consent.before': 'Concedió acceso a esta aplicación el {day}. Lo nuevo está marcado.',
  'consent.beforeNothingNew': 'Concedió acceso a esta aplicación el {day}. Nada de esto es nuevo.',
  'consent.asked': '{application} quiere acceder a la cuenta {user}.',
  'consent.answerGoesTo': 'Su respuesta se enviará a {host}.',
  'consent.compareCode': 'Acepte solo si su propio dispositivo muestra el código {code}.',
  'consent.agree': 'Aceptar',
  'consent.refuse': 'Rechazar',

  'permissions.rw': 'Leer y modificar',
  'permissions.r': 'Leer',
  'permissions.new': 'Nuevo',
  'permissions.worksAt': 'Válido solo en',

  'resources.title': 'Dónde podrá hacerlo la aplicación',
  'resources.question': '¿Dónde podrá hacerlo la aplicación?',
  'resources.all': 'Todos los recursos de su cuenta',
  'resources.public': 'Todos los recursos públicos de su cuenta',
  'resources.specified': 'Solo los recursos que usted elija',
  'resources.list': 'Recursos',
  'resources.skip': 'Saltar la lista de recursos',
  'resources.notShown': {
    one: 'Tiene un recurso más, que no se puede elegir aquí.',
    many: 'Tiene {count} de recursos más, que no se pueden elegir aquí.',
    other: 'Tiene {count} recursos más, que no se pueden elegir aquí.',
  },
  'resources.search': 'Buscar por nombre',
  'resources.find': 'Buscar',
  'resources.noneFound': 'Ninguno de sus recursos coincide con estas palabras.',
  'resources.notListed': {
    one: 'Hay {count} más. Búsquelo por su nombre.',
    many: 'Hay {count} más. Búsquelos por su nombre.',
    other: 'Hay {count} más. Búsquelos por su nombre.',
  },
  'resources.none': 'No tiene recursos para elegir.',
  'resources.noneShown': 'Ninguno de sus recursos se puede elegir aquí.',
  'resources.choose': 'Elija qué recursos podrá usar la aplicación: al menos uno y como máximo {most}.',

  'device.title': 'Conectar un dispositivo',
  'device.enter':
    'Introduzca el código que muestra su dispositivo. Antes de que se comparta nada, verá qué aplicación solicita acceso y a qué.',
  'device.field': 'Código de su dispositivo',
  'device.hint': '{length} letras, como {example}',
  'device.compare':
    'El enlace por el que ha llegado aquí contiene este código. Compárelo con el código que muestra su dispositivo.',
  'device.compareAdvice':
    'Continúe solo si los dos códigos coinciden y fue usted quien inició este proceso. De lo contrario, cierre esta página.',
  'device.warning':
    'Use únicamente el código de un dispositivo suyo que tenga delante. Nadie de este servicio le enviará nunca un código: quien lo haga quiere entrar en su cuenta.',
  'device.continue': 'Continuar',
  'device.continueEntered':
    'Continúe solo con un código de su propio dispositivo, nunca con uno que le haya enviado otra persona.',
  'device.continueCompared': 'Continúe solo si su propio dispositivo muestra el código {code}.',
  'device.unknownCode':
    'Este código no existe o ya no es válido. Compárelo con el de su dispositivo o empiece de nuevo en él.',
  'device.tooManyCodes': {
    one: 'Se han probado demasiados códigos. Espere un minuto y vuelva a intentarlo.',
    many: 'Se han probado demasiados códigos. Espere {count} de minutos y vuelva a intentarlo.',
    other: 'Se han probado demasiados códigos. Espere {count} minutos y vuelva a intentarlo.',
  },
  'device.agreedTitle': 'Su dispositivo está conectado',
  'device.agreed':
    '{application} ya tiene el acceso que usted ha aceptado. Vuelva a su dispositivo. Puede cerrar esta página.',
  'device.refusedTitle': 'No se ha compartido nada',
  'device.refused': 'Ha rechazado el acceso que solicitaba {application}. Puede cerrar esta página.',

  'applications.title': 'Aplicaciones autorizadas',
  'applications.introduction':
    'Usted ha permitido que estas aplicaciones accedan a su cuenta. «Último uso» indica cuándo obtuvo o renovó su acceso una aplicación por última vez. Lo que hace con él entretanto no se muestra aquí. Las fechas corresponden a UTC.',
  'applications.none': 'Ninguna aplicación tiene acceso a su cuenta.',
  'applications.next': 'Más aplicaciones',
  'applications.incomplete': 'Algunas aplicaciones con acceso no se pueden mostrar en este momento.',
  'applications.more': 'Hay más aplicaciones. Revoque el acceso de algunas para que se muestren las demás.',
  'applications.suspended': 'Los administradores han bloqueado esta aplicación. En este momento no puede hacer nada.',
  'applications.noPermissions': 'La aplicación únicamente puede saber que usted ha aceptado.',
  'applications.where': 'Se aplica a',
  'applications.permitted': 'Acceso concedido el',
  'applications.lastUsed': 'Último uso',
  'applications.neverUsed': 'Nunca',
  'applications.ends': 'Finaliza el',
  'applications.endsOn': '{day}, salvo que la aplicación renueve el acceso',
  'applications.older': {
    one: 'Usted ya había autorizado esta aplicación una vez:',
    many: 'Usted ya había autorizado esta aplicación {count} de veces. En total:',
    other: 'Usted ya había autorizado esta aplicación {count} veces. En total:',
  },
  'applications.noResource': 'Ningún recurso',
  'applications.resources': { one: '{count} recurso', many: '{count} de recursos', other: '{count} recursos' },
  'applications.resourcesOrMore': {
    one: 'Al menos {count} recurso',
    many: 'Al menos {count} de recursos',
    other: 'Al menos {count} recursos',
  },
  'applications.notShown': { one: '{count} más', many: '{count} más', other: '{count} más' },
  'applications.notShownOrMore': {
    one: 'Al menos {count} más',
    many: 'Al menos {count} más',
    other: 'Al menos {count} más',
  },
  'applications.revoke': 'Revocar acceso',
  'applications.revokeOf': 'Revocar acceso de {application}',
  'applications.choose': 'Seleccionar {application}',
  'applications.revokeChosen': 'Revocar acceso de las seleccionadas',
  'applications.chooseOne': 'Seleccione al menos una aplicación.',
  'applications.revoked': {
    one: 'Acceso revocado: {count} aplicación.',
    many: 'Acceso revocado: {count} de aplicaciones.',
    other: 'Acceso revocado: {count} aplicaciones.',
  },

  'error.linkTitle': 'No se puede acceder a este enlace',
  'error.link':
    'El enlace por el que ha llegado aquí está incompleto o la aplicación no tiene permiso para usarlo. No se ha compartido nada. Vuelva a la aplicación e inténtelo de nuevo. Si el problema continúa, avise a los responsables de la aplicación.',
  'error.consentForm':
    'Este formulario ya se envió, es demasiado antiguo o pertenece a otra sesión. Vuelva a la aplicación y empiece de nuevo.',
  'error.deviceForm':
    'Este formulario ya se envió, es demasiado antiguo o pertenece a otra sesión. Empiece de nuevo en su dispositivo.',
  'error.applicationsForm':
    'Este formulario es demasiado antiguo o pertenece a otra sesión. No se ha cambiado nada. Abra la página de nuevo.',
  'error.notApprovedTitle': 'Esta aplicación no está aprobada',
  'error.notApproved':
    'Los responsables de este servicio aún no la han aprobado, o la han rechazado. No se ha compartido nada. Inténtelo de nuevo más tarde.',
  'error.clientRefusedTitle': 'Este servicio no admite esta aplicación',
  'error.clientRefused':
    'No se ha compartido nada. Si cree que debería admitirse, avise a los responsables de este servicio.',
  'error.hostRefusedTitle': 'El servicio no lo permite',
  'error.hostRefused':
    'Esta cuenta no puede dar a esta aplicación lo que pide. No se ha compartido nada. Pregunte a los responsables de este servicio.',
  'error.clientUnreadableTitle': 'No se puede leer la información de esta aplicación',
  'error.clientUnreadable':
    'La aplicación no ha indicado qué es o lo ha indicado mal. No se ha compartido nada. Avise a los responsables de la aplicación.',
  'error.notFoundTitle': 'Aquí no hay nada',
  'error.notFound': 'Esta página no existe o no es para usted.',
  'error.forbiddenTitle': 'Esta página es para administradores',
  'error.forbidden': 'No se ha cambiado nada. Inicie sesión como administrador para abrirla.',
  'error.detail': 'Ve esto porque usted presentó la aplicación. El parámetro {parameter} del enlace es incorrecto:',
  'error.busyTitle': 'El servicio está saturado',
  'error.busy': 'Inténtelo de nuevo en un momento.',
  'error.signedOutTitle': 'Se ha cerrado su sesión',
  'error.signedOut': 'No se ha cambiado nada. Vuelva a iniciar sesión para continuar.',
  'error.signIn': 'Iniciar sesión',

  'scope.repo-code': 'Código de los repositorios mediante comandos de Git',
  'scope.repo-pr': 'Solicitudes de incorporación de cambios',
  'scope.repo-issue': 'Incidencias',
  'scope.repo-notes': 'Comentarios en incidencias y solicitudes de cambios',
  'scope.repo-release': 'Etiquetas y versiones publicadas',
  'scope.repo-commit-status': 'Estado de los pipelines, insignias y metadatos de los commits',
  'scope.repo-trigger': 'Consultar, activar y ejecutar la compilación y el desarrollo nativos de la nube',
  'scope.repo-history': 'Historial de compilaciones de los pipelines',
  'scope.repo-detail': 'Consultar o eliminar espacios de desarrollo nativos de la nube',
  'scope.repo-basic-info': 'Información básica de los repositorios (nombre, descripción, lenguaje, licencia)',
  'scope.repo-manage': 'Miembros y configuración de los repositorios',
  'scope.repo-delete': 'Eliminar un repositorio',
  'scope.repo-security': 'Datos del módulo de seguridad de los repositorios',
  'scope.registry-package': 'Artefactos',
  'scope.registry-package-delete': 'Eliminar artefactos',
  'scope.registry-security': 'Datos de seguridad, licencias y SBOM de los paquetes',
  'scope.registry-manage': 'Miembros y configuración de los registros de artefactos',
  'scope.registry-delete': 'Eliminar un registro de artefactos',
  'scope.account-profile': 'Perfil de usuario',
  'scope.account-email': 'Correo electrónico verificado de la cuenta',
  'scope.account-engage': 'Repositorios seguidos, seguidores, entornos de desarrollo nativos de la nube y similares',
  'scope.group-resource':
    'Suborganizaciones, repositorios, registros de artefactos y conjuntos de tareas de una organización',
  'scope.group-manage': 'Miembros, muro de repositorios y configuración de las organizaciones',
  'scope.group-delete': 'Eliminar una organización',
  'scope.mission-delete': 'Eliminar un conjunto de tareas',
  'scope.mission-manage': 'Acceder a un conjunto de tareas',

  ...esForDevelopers,
}
