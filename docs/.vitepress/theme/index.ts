/**
 * The theme of the site: the default one with more contrast, and a main landmark on the first page.
 * @module
 */
import type { Theme } from 'vitepress'
import { useRoute } from 'vitepress'
import DefaultTheme from 'vitepress/theme'
import { nextTick, onMounted, watch } from 'vue'
import './contrast.css'

/** Marks the content of the first page as its main part. The default theme does so on all other pages. */
async function markMain(): Promise<void> {
  await nextTick()
  document.querySelector('.VPContent.is-home')?.setAttribute('role', 'main')
}

const theme: Theme = {
  extends: DefaultTheme,
  setup: () => {
    const route = useRoute()
    onMounted(markMain)
    watch(() => route.path, markMain)
  },
}

export default theme
