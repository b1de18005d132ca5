/**
 * The texts of all pages in Portuguese.
 * @module
 */
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
  'error.detail': 'Você vê isto porque enviou o aplicativo. O parâmetro {parameter} do link está errado:',
  'error.busyTitle': 'O serviço está ocupado',
  'error.busy': 'Tente de novo daqui a pouco.',
  'error.signedOutTitle': 'Sua sessão foi encerrada',
  'error.signedOut': 'Nada foi alterado. Entre de novo para continuar.',
  'error.signIn': 'Entrar',

  'fault.missing': 'Falta esta informação.',
  'fault.type': 'Esta informação não é do tipo certo.',
  'fault.field_unknown': 'Este campo não faz parte de um registro.',
  'fault.field_inherited': 'Este campo deve ser próprio, e não herdado.',
  'fault.half_character': 'Este texto contém metade de um caractere.',
  'fault.unseen_mark': 'Este texto contém um caractere de controle ou de direção.',
  'fault.name_length': 'O nome deve ter de {least} a {most} caracteres, em uma só linha.',
  'fault.logo_bytes': 'O logotipo deve ter no máximo {most} bytes.',
  'fault.logo_type': 'O logotipo deve ser uma imagem PNG, JPEG, GIF ou WebP.',
  'fault.logo_header': 'O logotipo deve ser uma imagem cujo cabeçalho indique a largura e a altura.',
  'fault.logo_pixels': 'O logotipo tem {width} x {height} pixels; deve ter no máximo {most} x {most}.',
  'fault.description_length': 'A descrição deve ter no máximo {most} caracteres.',
  'fault.website_url': 'O site deve ser um URL http ou https de no máximo {most} caracteres, sem dados de usuário.',
  'fault.client_type': 'O tipo deve ser “confidential” ou “public”.',
  'fault.client_type_changed': 'O tipo não pode mudar: registre outro aplicativo.',
  'fault.client_id': 'O identificador do cliente deve ter de {least} a {most} caracteres ASCII imprimíveis.',
  'fault.client_secret': 'O segredo do cliente deve ter de {least} a {most} caracteres ASCII visíveis.',
  'fault.client_secret_of_public': 'O segredo do cliente não deve ser informado: um cliente público não tem segredo.',
  'fault.redirect_uris_none': 'Deve haver pelo menos um URI de redirecionamento.',
  'fault.redirect_uris_count': 'Deve haver no máximo {most} URIs de redirecionamento.',
  'fault.redirect_uri_length': 'O URI de redirecionamento deve ter no máximo {most} caracteres.',
  'fault.redirect_uri_spelling':
    'O URI de redirecionamento deve ser escrito como um navegador o escreve, com um host simples e sem partes vazias ou codificadas no caminho.',
  'fault.redirect_uri_incomplete': 'O URI de redirecionamento deve ser um URL completo.',
  'fault.redirect_uri_fragment': 'O URI de redirecionamento não deve ter fragmento.',
  'fault.redirect_uri_user_info': 'O URI de redirecionamento não deve conter dados de usuário.',
  'fault.redirect_uri_parameter':
    'O URI de redirecionamento não deve ter o parâmetro {parameter}, em nenhuma grafia: ele pertence à resposta.',
  'fault.redirect_uri_localhost': 'O URI de redirecionamento deve ter 127.0.0.1 ou [::1] em vez de localhost.',
  'fault.redirect_uri_scheme':
    'O URI de redirecionamento deve ser https, http em loopback ou ter um esquema privado com um ponto, como “com.example.app:”.',
  'fault.redirect_uri_confidential':
    'O URI de redirecionamento não deve ter um esquema privado: o cliente é confidencial.',
  'fault.redirect_uri_not_sent': 'O URI de redirecionamento deve ser enviado: não há exatamente um registrado.',
  'fault.redirect_uri_loopback':
    'O URI de redirecionamento deve ter o host, o caminho e a consulta de um URI registrado em loopback; só a porta pode ser outra.',
  'fault.redirect_uri_not_registered': 'O URI de redirecionamento deve ser exatamente um dos registrados.',
  'fault.redirect_uri_port': 'O URI de redirecionamento deve ter a porta de um dos registrados.',
  'fault.redirect_uri_host': 'O URI de redirecionamento deve ter o host {domain}.',
  'fault.redirect_uri_subdomain': 'O URI de redirecionamento deve ter o host {domain} ou um subdomínio dele.',
  'fault.redirect_matching': 'Os URIs de redirecionamento devem ser comparados por domínio ou exatamente.',
  'fault.domain_of_exact':
    'O domínio autorizado deve ficar vazio: os URIs de redirecionamento são comparados exatamente.',
  'fault.domain_missing': 'O domínio autorizado deve ser informado: os URIs de redirecionamento têm vários hosts.',
  'fault.domain_name': 'O domínio autorizado deve ser um nome de domínio em minúsculas, sem porta nem ponto final.',
  'fault.domain_top_level': 'Os subdomínios de um domínio de primeiro nível não podem ser aceitos.',
  'fault.domain_other_host': '{host} não está no domínio autorizado.',
  'fault.scopes_count': 'Deve ser pedido pelo menos um escopo do catálogo, e cada um só uma vez.',
  'fault.scopes_wider': 'Os escopos devem estar entre os que foram pedidos.',
  'fault.scope_unknown': 'Deve ser um escopo do catálogo, por exemplo {scope}.',
  'fault.scope_field_unknown': 'Este campo não faz parte de um escopo pedido.',
  'fault.scope_twice': 'Este escopo é pedido duas vezes.',
  'fault.scope_includes': 'Este escopo inclui {other}, que também é pedido: informe apenas {scope}.',
  'fault.scope_included': 'Este escopo está incluído em {other}: informe apenas {other}.',
  'fault.reason_length': 'O motivo deve ter de {least} a {most} caracteres.',
  'fault.resource_scope': 'O alcance dos recursos deve ser “all”, “public” ou “specified”.',
  'fault.resource_scope_specified':
    'O alcance dos recursos não deve ser “specified”: neste serviço não é possível escolher recursos específicos.',
  'fault.token_type': 'O tipo de token deve ser “bearer” ou “mac”.',
  'fault.token_type_mac': 'O tipo de token não deve ser “mac”: este serviço não emite tokens desse tipo.',
  'fault.audience_unknown': 'Deve ser uma audiência deste serviço.',
  'fault.client_suspended':
    'Os administradores bloquearam o aplicativo. Os links dele só poderão ser acessados quando o restabelecerem.',
  'fault.parameter_malformed': 'O parâmetro está malformado.',
  'fault.parameter_length': 'O parâmetro é muito longo.',
  'fault.parameter_repeated': 'O parâmetro está repetido.',

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
}
