/**
 * The texts of all pages in Portuguese.
 * @module
 */
import { ptForDevelopers } from './developers/pt.js'
import type { Texts } from './texts.js'

/** The texts in Portuguese. */
export const pt: Texts = {
  direction: 'ltr',

  'page.signedInAs': 'Você entrou como {user}',
  'page.switchAccount': 'Não é você? Entrar com outra conta',
  'page.backTo': 'Voltar para {application}',
  'page.faultTitle': 'Erro: {title}',
  'page.help': 'Ajuda',
  'page.terms': 'Termos de uso',
  'page.privacy': 'Privacidade',

  'application.ofHost': '{host} se apresenta como {name}',
  'application.website': 'Site',

  'consent.title': 'Autorizar {application}',
  'consent.heading': '{application} quer acessar sua conta',
  'consent.headingOfHost': '{host} se apresenta como {name} e quer acessar sua conta',
  'consent.description': 'O aplicativo se descreve assim',
  'consent.returnTo': 'Você voltará para',
  'consent.deviceCode': 'Código no seu dispositivo',
  'consent.deviceWarning':
    'Permita somente se um dispositivo seu, que está na sua frente, mostrar exatamente este código. É esse dispositivo que receberá o acesso.',
  'consent.unreviewedWarning':
    'Este aplicativo se registrou por conta própria. Ninguém deste serviço verificou o nome dele. Permita somente se foi você quem acabou de abri-lo.',
  'consent.checkedBy': 'Verificado por {service} em {day}',
  'consent.checked': 'Verificado pelos responsáveis por este serviço em {day}',
  'consent.permissions': 'Se você permitir, o aplicativo poderá',
  'consent.noPermissions': 'apenas saber que você deu permissão.',
  'consent.reasons': 'O aplicativo explica com as próprias palavras por que pede cada permissão:',
  'consent.before': 'Você deu acesso a este aplicativo em {day}. O que é novo está marcado.',
  'consent.beforeNothingNew': 'Você deu acesso a este aplicativo em {day}. Nada disso é novo.',
  'consent.asked': '{application} quer acessar a conta {user}.',
  'consent.answerGoesTo': 'Sua resposta será enviada para {host}.',
  'consent.compareCode': 'Permita somente se o seu próprio dispositivo mostrar o código {code}.',
  'consent.agree': 'Permitir',
  'consent.refuse': 'Recusar',

  'permissions.rw': 'Ler e alterar',
  'permissions.r': 'Ler',
  'permissions.new': 'Novo',
  'permissions.worksAt': 'Válido somente em',

  'resources.title': 'Onde o aplicativo poderá fazer isso',
  'resources.question': 'Onde o aplicativo poderá fazer isso?',
  'resources.all': 'Todos os recursos da sua conta',
  'resources.public': 'Todos os recursos públicos da sua conta',
  'resources.specified': 'Somente os recursos que você escolher',
  'resources.list': 'Recursos',
  'resources.skip': 'Pular a lista de recursos',
  'resources.notShown': {
    one: 'Você tem mais um recurso, que não pode ser escolhido aqui.',
    many: 'Você tem mais {count} de recursos, que não podem ser escolhidos aqui.',
    other: 'Você tem mais {count} recursos, que não podem ser escolhidos aqui.',
  },
  'resources.search': 'Buscar pelo nome',
  'resources.find': 'Buscar',
  'resources.noneFound': 'Nenhum dos seus recursos corresponde a essas palavras.',
  'resources.notListed': {
    one: 'Há mais {count}. Busque-o pelo nome.',
    many: 'Há mais {count}. Busque-os pelo nome.',
    other: 'Há mais {count}. Busque-os pelo nome.',
  },
  'resources.none': 'Você não tem recursos para escolher.',
  'resources.noneShown': 'Nenhum dos seus recursos pode ser escolhido aqui.',
  'resources.choose': 'Escolha quais recursos o aplicativo poderá usar: pelo menos um e no máximo {most}.',

  'device.title': 'Conectar um dispositivo',
  'device.enter':
    'Digite o código que aparece no seu dispositivo. Antes que algo seja compartilhado, você verá qual aplicativo está pedindo acesso e a quê.',
  'device.field': 'Código no seu dispositivo',
  'device.hint': '{length} letras, como {example}',
  'device.compare':
    'O link que trouxe você até aqui contém este código. Compare-o com o código que aparece no seu dispositivo.',
  'device.compareAdvice':
    'Continue somente se os dois códigos forem iguais e se foi você quem iniciou este processo. Caso contrário, feche esta página.',
  'device.warning':
    'Use somente o código de um dispositivo que seja seu e esteja na sua frente. Ninguém deste serviço jamais enviará um código a você: quem fizer isso quer entrar na sua conta.',
  'device.continue': 'Continuar',
  'device.continueEntered':
    'Continue somente com um código do seu próprio dispositivo, nunca com um que alguém enviou a você.',
  'device.continueCompared': 'Continue somente se o seu próprio dispositivo mostrar o código {code}.',
  'device.unknownCode':
    'Este código não existe ou não é mais válido. Compare-o com o do seu dispositivo ou comece de novo por lá.',
  'device.tooManyCodes': {
    one: 'Houve tentativas demais. Aguarde {count} minuto e tente novamente.',
    many: 'Houve tentativas demais. Aguarde {count} de minutos e tente novamente.',
    other: 'Houve tentativas demais. Aguarde {count} minutos e tente novamente.',
  },
  'device.agreedTitle': 'Seu dispositivo está conectado',
  'device.agreed':
    '{application} agora tem o acesso que você permitiu. Volte para o seu dispositivo. Você já pode fechar esta página.',
  'device.refusedTitle': 'Nada foi compartilhado',
  'device.refused': 'Você recusou o acesso solicitado por {application}. Você já pode fechar esta página.',

  'applications.title': 'Aplicativos autorizados',
  'applications.introduction':
    'Você permitiu que estes aplicativos acessem sua conta. “Último uso” indica quando um aplicativo obteve ou renovou o acesso pela última vez. O que ele faz com o acesso nesse meio-tempo não é mostrado aqui. As datas seguem o horário UTC.',
  'applications.none': 'Nenhum aplicativo tem acesso à sua conta.',
  'applications.next': 'Mais aplicativos',
  'applications.incomplete': 'Alguns aplicativos com acesso não podem ser mostrados no momento.',
  'applications.more': 'Há mais aplicativos. Revogue o acesso de alguns para que os outros sejam mostrados.',
  'applications.suspended': 'Os administradores bloquearam este aplicativo. Ele não pode fazer nada no momento.',
  'applications.noPermissions': 'O aplicativo pode apenas saber que você deu permissão.',
  'applications.where': 'Aplica-se a',
  'applications.permitted': 'Acesso permitido em',
  'applications.lastUsed': 'Último uso',
  'applications.neverUsed': 'Nunca',
  'applications.ends': 'Termina em',
  'applications.endsOn': '{day}, a menos que o aplicativo renove o acesso',
  'applications.older': {
    one: 'Você já havia autorizado este aplicativo uma vez:',
    many: 'Você já havia autorizado este aplicativo {count} de vezes. No total:',
    other: 'Você já havia autorizado este aplicativo {count} vezes. No total:',
  },
  'applications.noResource': 'Nenhum recurso',
  'applications.resources': { one: '{count} recurso', many: '{count} de recursos', other: '{count} recursos' },
  'applications.resourcesOrMore': {
    one: 'Pelo menos {count} recurso',
    many: 'Pelo menos {count} de recursos',
    other: 'Pelo menos {count} recursos',
  },
  'applications.notShown': { one: 'Mais {count}', many: 'Mais {count}', other: 'Mais {count}' },
  'applications.notShownOrMore': {
    one: 'Pelo menos mais {count}',
    many: 'Pelo menos mais {count}',
    other: 'Pelo menos mais {count}',
  },
  'applications.revoke': 'Revogar acesso',
  'applications.revokeOf': 'Revogar acesso de {application}',
  'applications.choose': 'Selecionar {application}',
  'applications.revokeChosen': 'Revogar acesso dos selecionados',
  'applications.chooseOne': 'Selecione pelo menos um aplicativo.',
  'applications.revoked': {
    one: 'Acesso revogado: {count} aplicativo.',
    many: 'Acesso revogado: {count} de aplicativos.',
    other: 'Acesso revogado: {count} aplicativos.',
  },

  'error.linkTitle': 'Não é possível acessar este link',
  'error.link':
    'O link que trouxe você até aqui está incompleto ou o aplicativo não tem permissão para usá-lo. Nada foi compartilhado. Volte para o aplicativo e tente de novo. Se não funcionar, avise os responsáveis pelo aplicativo.',
  'error.consentForm':
    'Este formulário já foi enviado, é muito antigo ou pertence a outra sessão. Volte para o aplicativo e comece de novo.',
  'error.deviceForm':
    'Este formulário já foi enviado, é muito antigo ou pertence a outra sessão. Comece de novo no seu dispositivo.',
  'error.applicationsForm':
    'Este formulário é muito antigo ou pertence a outra sessão. Nada foi alterado. Abra a página de novo.',
  'error.notApprovedTitle': 'Este aplicativo não está aprovado',
  'error.notApproved':
    'Os responsáveis por este serviço ainda não o aprovaram, ou o recusaram. Nada foi compartilhado. Tente de novo mais tarde.',
  'error.clientRefusedTitle': 'Este serviço não aceita este aplicativo',
  'error.clientRefused':
    'Nada foi compartilhado. Se você acha que ele deveria ser aceito, avise os responsáveis por este serviço.',
  'error.hostRefusedTitle': 'O serviço não permite isto',
  'error.hostRefused':
    'Esta conta não pode dar a este aplicativo o que ele pede. Nada foi compartilhado. Fale com os responsáveis por este serviço.',
  'error.clientUnreadableTitle': 'Não é possível ler as informações deste aplicativo',
  'error.clientUnreadable':
    'O aplicativo não informou o que é ou informou errado. Nada foi compartilhado. Avise os responsáveis pelo aplicativo.',
  'error.notFoundTitle': 'Não há nada aqui',
  'error.notFound': 'Esta página não existe ou não é para você.',
  'error.forbiddenTitle': 'Esta página é para administradores',
  'error.forbidden': 'Nada foi alterado. Entre como administrador para abri-la.',
  'error.detail': 'Você vê isto porque enviou o aplicativo. O parâmetro {parameter} do link está errado:',
  'error.busyTitle': 'O serviço está ocupado',
  'error.busy': 'Tente de novo daqui a pouco.',
  'error.signedOutTitle': 'Sua sessão foi encerrada',
  'error.signedOut': 'Nada foi alterado. Entre de novo para continuar.',
  'error.signIn': 'Entrar',

  'scope.repo-code': 'Código dos repositórios por comandos do Git',
  'scope.repo-pr': 'Solicitações de alteração',
  'scope.repo-issue': 'Tarefas e problemas',
  'scope.repo-notes': 'Comentários em tarefas, problemas e solicitações de alteração',
  'scope.repo-release': 'Tags e releases',
  'scope.repo-commit-status': 'Status dos pipelines, selos e metadados dos commits',
  'scope.repo-trigger': 'Consultar, acionar e executar builds e desenvolvimento nativos da nuvem',
  'scope.repo-history': 'Histórico de builds dos pipelines',
  'scope.repo-detail': 'Consultar ou excluir espaços de desenvolvimento nativos da nuvem',
  'scope.repo-basic-info': 'Informações básicas dos repositórios (nome, descrição, linguagem, licença)',
  'scope.repo-manage': 'Membros e configurações dos repositórios',
  'scope.repo-delete': 'Excluir um repositório',
  'scope.repo-security': 'Dados do módulo de segurança dos repositórios',
  'scope.registry-package': 'Artefatos',
  'scope.registry-package-delete': 'Excluir artefatos',
  'scope.registry-security': 'Dados de segurança, licenças e SBOM dos pacotes',
  'scope.registry-manage': 'Membros e configurações dos registros de artefatos',
  'scope.registry-delete': 'Excluir um registro de artefatos',
  'scope.account-profile': 'Perfil do usuário',
  'scope.account-email': 'E-mail verificado da conta',
  'scope.account-engage':
    'Repositórios seguidos, seguidores, ambientes de desenvolvimento nativos da nuvem e similares',
  'scope.group-resource':
    'Suborganizações, repositórios, registros de artefatos e conjuntos de tarefas de uma organização',
  'scope.group-manage': 'Membros, mural de repositórios e configurações das organizações',
  'scope.group-delete': 'Excluir uma organização',
  'scope.mission-delete': 'Excluir um conjunto de tarefas',
  'scope.mission-manage': 'Acessar um conjunto de tarefas',

  ...ptForDevelopers,
}
