/** The pages of a device (RFC 8628, 3.3 and 5.4), read back by an HTML parser. */
import * as fc from 'fast-check'
import { type DevicePageModel, displayText } from 'grantwell/pages'
import { describe, expect, it } from 'vitest'
import { devicePage, deviceResultPage } from './english.js'
import {
  hostileDevice,
  hostileDeviceResult,
  plainComplete,
  plainDevice,
  plainDeviceResult,
  tamedDevice,
} from './models.js'
import { asParsed, attribute, contentsOf, element, elementsOf, skeletonOf, textOf } from './tree.js'

describe('12: every value is escaped', () => {
  it('no value of a device page makes an element or an attribute, and each is there', () => {
    fc.assert(
      fc.property(hostileDevice, (model) => {
        const document = devicePage(model)
        const { user, userCode = '', form, stylesheet, fault } = model
        expect(skeletonOf(document)).toBe(skeletonOf(devicePage(tamedDevice(model))))
        const { texts, attributes } = contentsOf(document)
        const shown = [user.name, ...(fault === undefined ? [] : [fault]), ...(model.complete ? [userCode] : [])]
        for (const text of shown) expect(texts).toContain(displayText(text))
        const sent = [form.action, stylesheet, userCode, ...form.fields.flatMap(({ name, value }) => [name, value])]
        for (const value of sent) expect(attributes).toContain(asParsed(value))
      }),
      { numRuns: 300 },
    )
  })

  it('no value of a result page makes an element or an attribute, and each is there', () => {
    fc.assert(
      fc.property(hostileDeviceResult, (model) => {
        const document = deviceResultPage(model)
        const harmless = deviceResultPage({
          ...model,
          application: {
            name: 'x',
            ...(/^https:/.test(model.application.website ?? '') && { website: 'https://x.example' }),
          },
          stylesheet: 'x',
        })
        expect(skeletonOf(document)).toBe(skeletonOf(harmless))
        expect(textOf(element(document, 'bdi'))).toBe(displayText(model.application.name))
        expect(attribute(element(document, 'link'), 'href')).toBe(asParsed(model.stylesheet))
      }),
    )
  })
})

describe('the device page asks for a code (3.3)', () => {
  it('posts to the action the hidden fields and what was typed', () => {
    const form = element(devicePage(plainDevice), 'form')
    expect([attribute(form, 'method'), attribute(form, 'action')]).toEqual(['post', '/oauth2/device'])
    expect(inputs(plainDevice)).toEqual([
      ['hidden', 'request', 'abc'],
      ['text', 'user_code', ''],
    ])
    expect(buttons(plainDevice)).toEqual(['Continue'])
  })

  it('shows again what was submitted', () => {
    expect(inputs({ ...plainDevice, userCode: 'wdjb mjht' })).toContainEqual(['text', 'user_code', 'wdjb mjht'])
  })

  it('has a field that takes the code in any spelling and that nothing corrects', () => {
    const { field, ...document } = fieldOf(plainDevice)
    expect(Object.fromEntries(field.attrs?.map(({ name, value }) => [name, value]) ?? [])).toEqual({
      type: 'text',
      name: 'user_code',
      value: '',
      dir: 'ltr',
      required: '',
      maxlength: '64',
      inputmode: 'text',
      autocomplete: 'off',
      autocapitalize: 'characters',
      autocorrect: 'off',
      spellcheck: 'false',
      'aria-describedby': 'hint',
    })
    expect(textOf(document.label).trim()).toBe('Code on your device')
    expect(textOf(document.byId('hint'))).toBe('8 letters, such as WDJB-MJHT')
  })

  it('says what was wrong, in the title too, and ties it to the field', () => {
    const model = { ...plainDevice, userCode: 'x', fault: 'No device waits for this code.' }
    const { field, byId } = fieldOf(model)
    expect([attribute(field, 'aria-invalid'), attribute(field, 'aria-describedby')]).toEqual(['true', 'fault hint'])
    expect(textOf(byId('fault'))).toBe('No device waits for this code.')
    expect(attribute(byId('fault'), 'role')).toBe('alert')
    expect(titleOf(model)).toBe('Error: Connect a device')
    expect(titleOf(plainDevice)).toBe('Connect a device')
    const first = element(devicePage(model), 'main').childNodes?.find(({ nodeName }) => nodeName !== '#text')
    expect(attribute(first, 'id')).toBe('fault')
  })

  it('asks for the code when the link had none after all', () => {
    for (const nothing of [{}, { userCode: '' }]) {
      const document = devicePage({ ...plainDevice, complete: true, ...nothing })
      expect(document).toBe(devicePage(plainDevice))
    }
  })
})

describe('a code that came with the link is compared (3.3.1 and 5.4)', () => {
  it('shows the code and posts it', () => {
    const shown = elementsOf(devicePage(plainComplete)).find((node) => attribute(node, 'class') === 'code')
    expect(shown && textOf(shown)).toBe('WDJB-MJHT')
    expect(inputs(plainComplete)).toEqual([
      ['hidden', 'request', 'abc'],
      ['hidden', 'user_code', 'WDJB-MJHT'],
    ])
    expect(buttons(plainComplete)).toEqual(['Continue'])
  })

  it('asks to compare before the button, and to go on only when both are the same', () => {
    const paragraphs = elementsOf(devicePage(plainComplete)).filter(({ nodeName }) => /^(p|button)$/.test(nodeName))
    expect(paragraphs.map(textOf)).toEqual([
      'Signed in as ada',
      'The link that brought you here has this code in it. Compare it with the code that your device shows.',
      'WDJB-MJHT',
      'Continue only if the two are the same and you started this yourself. Otherwise close this page.',
      warning,
      'Continue only if your own device shows the code WDJB-MJHT.',
      'Continue',
    ])
  })

  it('says what was wrong', () => {
    const alert = elementsOf(devicePage({ ...plainComplete, fault: 'Try again.' })).find(
      (node) => attribute(node, 'role') === 'alert',
    )
    expect(alert && textOf(alert)).toBe('Try again.')
    expect(titleOf({ ...plainComplete, fault: 'Try again.' })).toBe('Error: Connect a device')
  })
})

const warning =
  'Only use a code from a device that is yours and in front of you. Nobody from this service will ever send you a ' +
  'code: whoever does wants to get into your account.'

describe('the user is warned of codes that somebody sent (5.4)', () => {
  it.each(Object.entries({ typed: plainDevice, compared: plainComplete }))('%s', (_, model) => {
    for (const shown of [model, { ...model, fault: 'x' }])
      expect(contentsOf(devicePage(shown)).texts).toContain(warning)
  })
})

describe('the page after the decision', () => {
  it.each([
    [
      'agree',
      'Your device is connected',
      'Loom has the access that you agreed to. Go back to your device; this page can be closed.',
    ],
    ['refuse', 'Nothing was shared', 'You refused Loom the access that it asked for. This page can be closed.'],
  ] as const)('%s: %s', (decision, title, text) => {
    const document = deviceResultPage({ ...plainDeviceResult, decision })
    for (const name of ['title', 'h1']) expect(textOf(element(document, name))).toBe(title)
    expect(textOf(element(document, 'p'))).toBe(text)
  })

  it('leads back to the website of the application, and nowhere else', () => {
    const nodes = elementsOf(deviceResultPage(plainDeviceResult))
    const links = nodes.filter(({ nodeName }) => nodeName === 'a')
    expect(links.map((link) => [attribute(link, 'href'), textOf(link)])).toEqual([
      ['https://loom.example/', 'Back to Loom'],
    ])
    for (const name of ['form', 'button', 'input']) expect(nodes.map(({ nodeName }) => nodeName)).not.toContain(name)
  })

  it.each([{}, { website: '' }, { website: 'javascript:alert(1)' }, { website: '/own' }])(
    'leads nowhere without an address of the web: %j',
    (website) => {
      const page = deviceResultPage({ ...plainDeviceResult, application: { name: 'Loom', ...website } })
      expect(elementsOf(page).map(({ nodeName }) => nodeName)).not.toContain('a')
    },
  )
})

function inputs(model: DevicePageModel) {
  return elementsOf(devicePage(model))
    .filter(({ nodeName }) => nodeName === 'input')
    .map((node) => [attribute(node, 'type'), attribute(node, 'name'), attribute(node, 'value')])
}

function buttons(model: DevicePageModel) {
  return elementsOf(devicePage(model)).flatMap((node) => (node.nodeName === 'button' ? [textOf(node)] : []))
}

function titleOf(model: DevicePageModel) {
  return textOf(element(devicePage(model), 'title'))
}

/** The field that is typed into, the label around it, and what it refers to. */
function fieldOf(model: DevicePageModel) {
  const nodes = elementsOf(devicePage(model))
  const label = nodes.find(({ nodeName }) => nodeName === 'label') ?? expect.fail('no label')
  const field = label.childNodes?.find(({ nodeName }) => nodeName === 'input') ?? expect.fail('no field in the label')
  const byId = (id: string) => nodes.find((node) => attribute(node, 'id') === id) ?? expect.fail(`no ${id}`)
  return { label, field, byId }
}
