import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'

const run = promisify(execFile)

// The server's domain with its port, its certificate authority, and a library that resolves all names of the domain.
const { E2B_API_KEY, PATH, E2B_TEST_DOMAIN, E2B_TEST_CA, E2B_TEST_RESOLVER } = process.env
const program = (environment) =>
  run(process.execPath, [new URL('domain.mjs', import.meta.url).pathname], {
    env: { PATH, LD_PRELOAD: E2B_TEST_RESOLVER, E2B_DOMAIN: E2B_TEST_DOMAIN, ...environment },
    timeout: 60_000,
  })

test('E2B_DOMAIN alone leads to the server, by TLS', async () => {
  const { stdout } = await program({ E2B_API_KEY, NODE_EXTRA_CA_CERTS: E2B_TEST_CA })
  const received = JSON.parse(stdout)
  assert.equal(received.stdout, '42\n')
  assert.match(received.host, new RegExp(`^8000-[a-z0-9]+\\.${E2B_TEST_DOMAIN}$`))
  assert.equal(received.page, 'hello over TLS')
  assert.equal(received.download, 'hello over TLS')
})

test('a client that does not trust the authority does not connect', async () => {
  await assert.rejects(program({ E2B_API_KEY }))
})

test('a key is accepted with both prefixes', async () => {
  const digits = E2B_API_KEY.replace(/^(e2b|isk)_/, '')
  for (const prefix of ['e2b_', 'isk_']) {
    const answer = await fetch(`${process.env.E2B_API_URL}/v2/sandboxes`, { headers: { 'X-API-KEY': prefix + digits } })
    assert.equal(answer.status, 200, prefix)
  }
})
