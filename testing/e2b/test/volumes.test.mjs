import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Sandbox, Volume, VolumePathNotFoundError } from 'e2b'

let volume
before(async () => {
  volume = await Volume.create(`data-${process.pid}`)
})
after(async () => {
  await Volume.destroy(volume.volumeId)
})

test('writes through the API are visible in the sandbox and vice versa', async () => {
  const written = await volume.writeFile('/in/from-outside.txt', 'hello', { mode: 0o640, force: true })
  assert.equal(written.type, 'file')
  assert.equal(written.path, '/in/from-outside.txt')
  assert.equal(written.size, 5)
  assert.equal(written.mode & 0o777, 0o640)
  assert.ok(written.mtime instanceof Date && !Number.isNaN(written.mtime.getTime()))
  const sandbox = await Sandbox.create({ volumeMounts: { '/mnt/data': volume.name } })
  try {
    assert.equal((await sandbox.commands.run('cat /mnt/data/in/from-outside.txt')).stdout, 'hello')
    await sandbox.commands.run('mkdir -p /mnt/data/out/deep && printf inside > /mnt/data/out/deep/file')
    assert.equal(await volume.readFile('/out/deep/file'), 'inside')
    await sandbox.files.write('/mnt/data/in/from-outside.txt', 'changed')
    assert.equal(await volume.readFile('/in/from-outside.txt'), 'changed')
    await assert.rejects(Volume.destroy(volume.volumeId), /mounted/)
    const info = await sandbox.getInfo()
    assert.deepEqual(info.volumeMounts, [{ name: volume.name, path: '/mnt/data' }])
  } finally {
    await sandbox.kill()
  }
  assert.equal(await volume.readFile('out/deep/file'), 'inside')
})

test('folders are made, listed and removed', async () => {
  const made = await volume.makeDir('/one')
  assert.equal(made.type, 'directory')
  assert.equal(made.name, 'one')
  await assert.rejects(volume.makeDir('/no/such/parent'), VolumePathNotFoundError)
  await volume.makeDir('/one/two/three', { force: true, mode: 0o700 })
  await volume.writeFile('/one/file', 'x')
  assert.deepEqual((await volume.list('/one')).map((one) => one.path).sort(), ['/one/file', '/one/two'])
  assert.deepEqual(
    (await volume.list('/one', { depth: 3 })).map((one) => one.path).sort(),
    ['/one/file', '/one/two', '/one/two/three'])
  await volume.remove('/one')
  assert.equal(await volume.exists('/one'), false)
  await assert.rejects(volume.list('/one'), VolumePathNotFoundError)
})

test('binary content round-trips, streamed too', async () => {
  const bytes = new Uint8Array(3_000_000).map((_, i) => (i * 7919) % 251)
  await volume.writeFile('/bytes', bytes.buffer)
  assert.deepEqual(await volume.readFile('/bytes', { format: 'bytes' }), bytes)
  let size = 0
  for await (const chunk of await volume.readFile('/bytes', { format: 'stream' })) size += chunk.length
  assert.equal(size, bytes.length)
  await volume.writeFile('/bytes', 'short')
  assert.equal(await volume.readFile('/bytes'), 'short')
  await volume.writeFile('/empty', '')
  assert.equal((await volume.getInfo('/empty')).size, 0)
})

test('permissions and owners are changed', async () => {
  await volume.writeFile('/owned', 'x')
  const changed = await volume.updateMetadata('/owned', { mode: 0o600 })
  assert.equal(changed.mode & 0o777, 0o600)
  const given = await volume.updateMetadata('/owned', { uid: 1234, gid: 4321 })
  assert.deepEqual([given.uid, given.gid, given.mode & 0o777], [1234, 4321, 0o600])
  const made = await volume.writeFile('/made', 'x', { uid: 1234 })
  assert.equal(made.uid, 1234)
  await assert.rejects(volume.writeFile('/made', 'y', { force: false }), /exist/)
  await assert.rejects(volume.updateMetadata('/none', { mode: 0o600 }), VolumePathNotFoundError)
})

test('nothing outside the volume is reached', async () => {
  await assert.rejects(volume.readFile('/../etc/passwd'), /leads out of the volume/)
  await assert.rejects(volume.writeFile('a/../../b', 'x'), /leads out of the volume/)
  await assert.rejects(volume.remove('/'), /volume itself/)
  const stranger = new Volume(volume.volumeId, volume.name, 'wrong')
  await assert.rejects(stranger.list('/'), /token/)
})

test('volumes are found by id until they are destroyed', async () => {
  const other = await Volume.create(`other-${process.pid}`)
  await other.writeFile('/kept', 'x')
  const same = await Volume.connect(other.volumeId)
  assert.equal(await same.readFile('/kept'), 'x')
  assert.ok((await Volume.list()).some((one) => one.name === other.name))
  assert.equal((await Sandbox.list().nextItems()).some((one) => one.volumeMounts), false)
  assert.equal(await Volume.destroy(other.volumeId), true)
  assert.equal(await Volume.destroy(other.volumeId), false)
  const again = await Volume.create(other.name)
  assert.deepEqual(await again.list('/'), [])
  await Volume.destroy(again.volumeId)
})

test('a volume can be used again after its helper was released', async () => {
  await volume.writeFile('/lasting', 'x')
  const api = `${process.env.E2B_API_URL}/api/v1/sandboxes`
  const headers = { Authorization: `Bearer ${process.env.E2B_API_KEY}` }
  const all = (await (await fetch(api, { headers })).json()).sandboxes
  const ours = all.filter((one) => one.tags?.['isola.volume'] === volume.volumeId)
  assert.equal(ours.length, 1)
  const ended = await fetch(`${api}/${ours[0].id}`, { method: 'DELETE', headers })
  assert.ok(ended.ok, `${ended.status}`)
  assert.equal(await volume.readFile('/lasting'), 'x')
})
