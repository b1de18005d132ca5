/**
 * The texts that the playground of metadata offers.
 * @module
 */

/** A text, and the words of its button. */
export interface Example {
  readonly title: string
  readonly text: string
}

/** A good record, one with problems, one with fields of its own, and one that cannot be read. */
export const EXAMPLES: readonly [Example, ...Example[]] = [
  {
    title: 'A good record',
    text: `# Kept by hand: ask before you change it.
name: "zlib"
description: "A compression library "
             "for everything."

third_party {
  url {
    type: HOMEPAGE
    value: "https://zlib.example/"
  }
  url { type: GIT value: "https://git.example/zlib" }  # the sources
  version: "1.3.1"
  license_type: NOTICE
  last_upgrade_date { year: 2024 month: 1 day: 22 }
  security {
    tag: "NVD-CPE2.3:cpe:/a:zlib:zlib:1.3.1"
  }
}
`,
  },
  {
    title: 'A record with problems',
    text: `name: "expat"
description: "  "
third_party {
  url { type: GIT value: "git.example/expat" }
  url { type: HOMEPAGE }
  last_upgrade_date { year: 2024 month: 2 day: 30 }
}
`,
  },
  {
    title: 'Fields of its own',
    text: `name: "libpng"
third_party {
  identifier { type: "Git" value: "https://git.example/libpng" version: "v1.6.43" }
  license_type: NOTICE
  last_upgrade_date { year: 2024 month: 3 day: 4 }
}
`,
  },
  {
    title: 'A text that is broken',
    text: `name: "curl"
third_party {
  version: 8.7.1
}
`,
  },
]
