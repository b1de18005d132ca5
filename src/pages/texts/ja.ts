/**
 * The texts of all pages in Japanese.
 * @module
 */
import { jaForDevelopers } from './developers/ja.js'
import type { Texts } from './texts.js'

/** The texts in Japanese. */
export const ja: Texts = {
  direction: 'ltr',

  'page.signedInAs': '{user} としてログイン中',
  'page.switchAccount': '別のアカウントでログインする場合はこちら',
  'page.backTo': '{application} に戻る',
  'page.faultTitle': 'エラー：{title}',
  'page.help': 'ヘルプ',
  'page.terms': '利用規約',
  'page.privacy': 'プライバシー',

  'application.ofHost': '{host}（自称：{name}）',
  'application.website': 'ウェブサイト',

  'consent.title': '{application} にアクセスを許可',
  'consent.heading': '{application} があなたのアカウントへのアクセスを求めています',
  'consent.headingOfHost': '{host} が {name} と名乗り、あなたのアカウントへのアクセスを求めています',
  'consent.description': 'アプリ自身による説明',
  'consent.returnTo': '戻り先',
  'consent.deviceCode': 'デバイスに表示されているコード',
  'consent.deviceWarning':
    'お手元にあるご自分のデバイスに、これとまったく同じコードが表示されている場合にのみ許可してください。アクセスできるようになるのは、そのデバイスです。',
  'consent.unreviewedWarning':
    'このアプリは自動で登録されたもので、このサービスでは名前を確認していません。たった今、ご自分でこのアプリの操作を始めた場合にのみ許可してください。',
  'consent.checkedBy': '{day}に {service} が審査済み',
  'consent.checked': '{day}にこのサービスの運営者が審査済み',
  'consent.permissions': '許可すると、このアプリができること',
  'consent.noPermissions': 'あなたが許可したことを知るだけで、ほかには何もできません。',
  'consent.reasons': 'それぞれの理由は、このアプリ自身による説明です：',
  'consent.before': '{day}にこのアプリへのアクセスを許可しています。新しいものには印が付いています。',
  'consent.beforeNothingNew': '{day}にこのアプリへのアクセスを許可しています。新しいものはありません。',
  'consent.asked': '{application} がアカウント {user} へのアクセスを求めています。',
  'consent.answerGoesTo': '選択の結果は {host} に送信されます。',
  'consent.compareCode': 'ご自分のデバイスにコード {code} が表示されている場合にのみ許可してください。',
  'consent.agree': '許可する',
  'consent.refuse': '拒否する',

  'permissions.rw': '閲覧と変更',
  'permissions.r': '閲覧',
  'permissions.new': '新規',
  'permissions.worksAt': '利用できるのは次の場所のみ',

  'resources.title': 'アクセスの範囲',
  'resources.question': 'どのリソースへのアクセスを許可しますか？',
  'resources.all': 'アカウントのすべてのリソース',
  'resources.public': 'アカウントのすべての公開リソース',
  'resources.specified': '選択したリソースのみ',
  'resources.list': 'リソース',
  'resources.skip': 'リソースの一覧をスキップ',
  'resources.notShown': { other: 'ほかに {count} 件ありますが、ここでは選択できません。' },
  'resources.search': '名前で検索',
  'resources.find': '検索',
  'resources.noneFound': 'この語句に一致するリソースはありません。',
  'resources.notListed': { other: 'ほかに {count} 件あります。名前で検索してください。' },
  'resources.none': '選択できるリソースがありません。',
  'resources.noneShown': 'お持ちのリソースは、いずれもここでは選択できません。',
  'resources.choose': 'アプリに利用を許可するリソースを、1 件以上 {most} 件以内で選択してください。',

  'device.title': 'デバイスを接続',
  'device.enter':
    'デバイスに表示されているコードを入力してください。情報が共有される前に、どのアプリが何を求めているかを確認できます。',
  'device.field': 'デバイスに表示されているコード',
  'device.hint': '英字 {length} 文字（例：{example}）',
  'device.compare':
    'このページを開いたリンクには、次のコードが含まれています。デバイスに表示されているコードと見比べてください。',
  'device.compareAdvice':
    '2 つのコードが同じで、ご自分で始めた操作である場合にのみ続行してください。それ以外の場合は、このページを閉じてください。',
  'device.warning':
    'お手元にあるご自分のデバイスのコードだけを使ってください。このサービスの担当者がコードを送ることは決してありません。コードを送ってくる人は、あなたのアカウントに侵入しようとしています。',
  'device.continue': '続行',
  'device.continueEntered':
    'ご自分のデバイスに表示されたコードの場合にのみ続行してください。誰かから送られてきたコードは絶対に使わないでください。',
  'device.continueCompared': 'ご自分のデバイスにコード {code} が表示されている場合にのみ続行してください。',
  'device.unknownCode':
    'コードが正しくないか、有効期限が切れています。デバイスのコードを確認するか、デバイスで最初からやり直してください。',
  'device.tooManyCodes': { other: 'コードの入力回数が多すぎます。{count} 分待ってから、もう一度お試しください。' },
  'device.agreedTitle': 'デバイスを接続しました',
  'device.agreed':
    '{application} は、あなたが許可した範囲でアクセスできるようになりました。デバイスに戻ってください。このページは閉じてかまいません。',
  'device.refusedTitle': '何も共有されませんでした',
  'device.refused': '{application} が求めたアクセスを拒否しました。このページは閉じてかまいません。',

  'applications.title': 'アクセスを許可したアプリ',
  'applications.introduction':
    'あなたのアカウントへのアクセスを許可したアプリです。「最終利用」は、アプリが最後にアクセス権を取得または更新した日です。その間にアプリが行った操作は、ここには表示されません。日付は UTC（協定世界時）です。',
  'applications.none': 'あなたのアカウントにアクセスできるアプリはありません。',
  'applications.next': 'ほかのアプリを表示',
  'applications.incomplete': '現在、アクセスを許可したアプリの一部を表示できません。',
  'applications.more': 'ほかにもアプリがあります。いくつかのアプリのアクセス権を取り消すと、残りが表示されます。',
  'applications.suspended': '管理者がこのアプリを停止しました。現在、このアプリは何もできません。',
  'applications.noPermissions': 'このアプリは、あなたが許可したことを知るだけで、ほかには何もできません。',
  'applications.where': '範囲',
  'applications.permitted': '許可した日',
  'applications.lastUsed': '最終利用',
  'applications.neverUsed': '利用なし',
  'applications.ends': '有効期限',
  'applications.endsOn': '{day}（アプリが更新した場合は延長されます）',
  'applications.older': {
    other: '以前にも {count} 回、アクセスを許可しています。許可した内容は、全部で次のとおりです。',
  },
  'applications.noResource': 'リソースなし',
  'applications.resources': { other: '{count} 件のリソース' },
  'applications.resourcesOrMore': { other: '{count} 件以上のリソース' },
  'applications.notShown': { other: 'ほか {count} 件' },
  'applications.notShownOrMore': { other: 'ほか {count} 件以上' },
  'applications.revoke': 'アクセス権を取り消す',
  'applications.revokeOf': '{application} のアクセス権を取り消す',
  'applications.choose': '{application} を選択',
  'applications.revokeChosen': '選択したアプリのアクセス権を取り消す',
  'applications.chooseOne': 'アプリを 1 つ以上選択してください。',
  'applications.revoked': { other: 'アクセス権を取り消しました：{count} 件のアプリ' },

  'error.linkTitle': 'このリンクは利用できません',
  'error.link':
    'リンクが不完全か、アプリにこのリンクの使用が認められていません。何も共有されていません。アプリに戻って、もう一度お試しください。解決しない場合は、アプリの運営者にご連絡ください。',
  'error.consentForm':
    'このフォームは、送信済みか、期限切れか、別のセッションのものです。アプリに戻って、最初からやり直してください。',
  'error.deviceForm':
    'このフォームは、送信済みか、期限切れか、別のセッションのものです。デバイスで最初からやり直してください。',
  'error.applicationsForm':
    'このフォームは、期限切れか、別のセッションのものです。何も変更されていません。ページを開き直してください。',
  'error.notApprovedTitle': 'このアプリは承認されていません',
  'error.notApproved':
    'このサービスの運営者による承認を待っているか、承認されませんでした。何も共有されていません。後でもう一度お試しください。',
  'error.clientRefusedTitle': 'このサービスでは、このアプリを利用できません',
  'error.clientRefused':
    '何も共有されていません。利用できるはずだと思われる場合は、このサービスの運営者にご連絡ください。',
  'error.hostRefusedTitle': 'このサービスでは許可されていません',
  'error.hostRefused':
    'このアカウントでは、このアプリが求めるアクセスを許可できません。何も共有されていません。このサービスの運営者にお問い合わせください。',
  'error.clientUnreadableTitle': 'このアプリの情報を読み取れません',
  'error.clientUnreadable':
    'アプリが自身の情報を示していないか、その内容に誤りがあります。何も共有されていません。アプリの運営者にご連絡ください。',
  'error.notFoundTitle': 'ここには何もありません',
  'error.notFound': 'このページは存在しないか、あなた向けのものではありません。',
  'error.forbiddenTitle': 'このページは管理者用です',
  'error.forbidden': '何も変更されていません。開くには、管理者としてログインしてください。',
  'error.detail':
    'この説明は、あなたがこのアプリを申請したため表示されています。リンクのパラメーター {parameter} に誤りがあります。',
  'error.busyTitle': 'サービスが混み合っています',
  'error.busy': 'しばらくしてから、もう一度お試しください。',
  'error.signedOutTitle': 'ログアウトされました',
  'error.signedOut': '何も変更されていません。続けるには、もう一度ログインしてください。',
  'error.signIn': 'ログイン',

  'scope.repo-code': 'リポジトリのコード（Git コマンドを使用）',
  'scope.repo-pr': 'プルリクエスト',
  'scope.repo-issue': 'イシュー',
  'scope.repo-notes': 'イシューとプルリクエストのコメント',
  'scope.repo-release': 'タグとリリース',
  'scope.repo-commit-status': 'パイプラインの状態、バッジ、コミットのメタデータ',
  'scope.repo-trigger': 'クラウドネイティブビルドとクラウドネイティブ開発の照会、起動、実行',
  'scope.repo-history': 'パイプラインのビルド履歴',
  'scope.repo-detail': 'クラウドネイティブ開発スペースの照会と削除',
  'scope.repo-basic-info': 'リポジトリの基本情報（名前、説明、言語、ライセンス）',
  'scope.repo-manage': 'リポジトリのメンバーと設定',
  'scope.repo-delete': 'リポジトリの削除',
  'scope.repo-security': 'リポジトリのセキュリティモジュールのデータ',
  'scope.registry-package': 'アーティファクト',
  'scope.registry-package-delete': 'アーティファクトの削除',
  'scope.registry-security': 'パッケージのセキュリティ、ライセンス、SBOM のデータ',
  'scope.registry-manage': 'アーティファクトレジストリのメンバーと設定',
  'scope.registry-delete': 'アーティファクトレジストリの削除',
  'scope.account-profile': 'ユーザープロフィール',
  'scope.account-email': 'ユーザーの確認済みメールアドレス',
  'scope.account-engage': 'フォロー中のリポジトリ、フォロワー、クラウドネイティブ開発環境など',
  'scope.group-resource': '組織内のサブ組織、リポジトリ、アーティファクトレジストリ、ミッションセット',
  'scope.group-manage': '組織のメンバー、リポジトリウォール、組織の設定',
  'scope.group-delete': '組織の削除',
  'scope.mission-delete': 'ミッションセットの削除',
  'scope.mission-manage': 'ミッションセットへのアクセス',

  ...jaForDevelopers,
}
