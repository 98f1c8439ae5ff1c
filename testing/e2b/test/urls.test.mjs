import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useSandbox } from './sandbox.mjs'

const sandbox = useSandbox()

test('a signed URL reads a file without a token or a name', async () => {
  await sandbox().files.write('shared.txt', 'for all')
  const url = await sandbox().downloadUrl('shared.txt', { useSignatureExpiration: 60_000 })
  assert.match(url, /signature=v1_/)
  const answer = await fetch(url)
  assert.equal(answer.status, 200)
  assert.equal(await answer.text(), 'for all')
})

test('a signed URL is valid for one file and user only', async () => {
  await sandbox().files.write('secret.txt', 'for none')
  const url = new URL(await sandbox().downloadUrl('shared.txt'))
  url.searchParams.set('path', 'secret.txt')
  const answer = await fetch(url)
  assert.equal(answer.status, 401)
  assert.equal((await answer.json()).code, 401)
  const other = new URL(await sandbox().downloadUrl('shared.txt'))
  other.searchParams.set('username', 'root')
  assert.equal((await fetch(other)).status, 401)
  const none = new URL(await sandbox().downloadUrl('shared.txt'))
  none.searchParams.delete('signature')
  assert.equal((await fetch(none)).status, 401)
})

test('a read URL does not allow writing', async () => {
  const url = await sandbox().downloadUrl('shared.txt')
  const form = new FormData()
  form.append('file', new Blob(['changed']), 'shared.txt')
  assert.equal((await fetch(url, { method: 'POST', body: form })).status, 401)
  assert.equal(await sandbox().files.read('shared.txt'), 'for all')
})

test('a signed URL expires', async () => {
  const url = await sandbox().downloadUrl('shared.txt', { useSignatureExpiration: -120 })
  const answer = await fetch(url)
  assert.equal(answer.status, 401)
  assert.match((await answer.json()).message, /expired/)
})

test('a signed URL accepts an upload', async () => {
  const url = await sandbox().uploadUrl('sent/up.txt', { useSignatureExpiration: 60_000 })
  const form = new FormData()
  form.append('file', new Blob(['sent']), 'any-name.txt')
  const answer = await fetch(url, { method: 'POST', body: form })
  assert.equal(answer.status, 200)
  assert.deepEqual(await answer.json(), [
    { path: '/home/user/sent/up.txt', name: 'up.txt', type: 'file' },
  ])
  assert.equal(await sandbox().files.read('sent/up.txt'), 'sent')
})

test('ranges', async () => {
  await sandbox().files.write('ten', '0123456789')
  const url = await sandbox().downloadUrl('ten')
  const range = async (text) => {
    const answer = await fetch(url, { headers: { Range: text } })
    return [answer.status, await answer.text(), answer.headers.get('content-range')]
  }
  assert.deepEqual(await range('bytes=2-4'), [206, '234', 'bytes 2-4/10'])
  assert.deepEqual(await range('bytes=7-'), [206, '789', 'bytes 7-9/10'])
  assert.deepEqual(await range('bytes=-2'), [206, '89', 'bytes 8-9/10'])
})

test('requests without a token are rejected', async () => {
  const headers = { 'E2b-Sandbox-Id': sandbox().sandboxId, 'E2b-Sandbox-Port': '49983' }
  const url = process.env.E2B_SANDBOX_URL
  assert.equal((await fetch(`${url}/envs`, { headers })).status, 401)
  assert.equal((await fetch(`${url}/files?path=ten`, { headers })).status, 401)
  assert.equal((await fetch(`${url}/health`, { headers })).status, 204)
  const wrong = { ...headers, 'X-Access-Token': 'wrong' }
  assert.equal((await fetch(`${url}/files?path=ten`, { headers: wrong })).status, 401)
})
