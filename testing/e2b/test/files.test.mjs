import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { AuthenticationError, FileNotFoundError, FileType, InvalidArgumentError } from 'e2b'
import { useSandbox } from './sandbox.mjs'

const sandbox = useSandbox()
const files = () => sandbox().files
const run = async (cmd, opts) => (await sandbox().commands.run(cmd, opts)).stdout
const sha = (bytes) => createHash('sha256').update(bytes).digest('hex')

test('written text is read back', async () => {
  const written = await files().write('notes/á b.txt', 'žluť\n')
  assert.deepEqual(
    [written.path, written.name, written.type],
    ['/home/user/notes/á b.txt', 'á b.txt', 'file'],
  )
  assert.equal(await files().read('notes/á b.txt'), 'žluť\n')
  assert.equal(await run('cat "notes/á b.txt"'), 'žluť\n')
})

test('files and parents belong to the user with default modes', async () => {
  await files().write('/home/user/made/for/me.txt', 'x')
  const line = await run('stat -c "%U:%G %a" made made/for made/for/me.txt')
  assert.equal(line, 'user:user 755\nuser:user 755\nuser:user 644\n')
  await files().write('/opt/app/main.sh', 'echo ran', { user: 'root' })
  assert.equal(await run('stat -c "%U %a" /opt/app /opt/app/main.sh'), 'root 755\nroot 644\n')
})

test('files can be written to folders of root', async () => {
  await files().write('/code/run.sh', 'echo ran')
  assert.equal(await run('stat -c %U /code /code/run.sh; bash /code/run.sh'), 'user\nuser\nran\n')
})

test('an existing file is replaced and keeps its mode', async () => {
  await files().write('tool.sh', 'echo one')
  await run('chmod 750 tool.sh')
  await files().write('tool.sh', 'two')
  assert.equal(await files().read('tool.sh'), 'two')
  assert.equal((await files().getInfo('tool.sh')).mode, 0o750)
})

test('empty files', async () => {
  await files().write('empty', '')
  assert.equal(await files().read('empty'), '')
  assert.equal((await files().read('empty', { format: 'bytes' })).length, 0)
  assert.equal((await files().getInfo('empty')).size, 0)
})

test('bytes, blobs and streams', async () => {
  const bytes = randomBytes(300_000)
  await files().write('raw', bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length))
  assert.equal(sha(await files().read('raw', { format: 'bytes' })), sha(bytes))
  await files().write('blob', new Blob([bytes]))
  const blob = await files().read('blob', { format: 'blob' })
  assert.equal(sha(Buffer.from(await blob.arrayBuffer())), sha(bytes))
  await files().write('streamed', new Blob([bytes]).stream())
  const hash = createHash('sha256')
  for await (const piece of await files().read('streamed', { format: 'stream' })) hash.update(piece)
  assert.equal(hash.digest('hex'), sha(bytes))
})

test('large files', async () => {
  const bytes = randomBytes(24 * 1024 * 1024)
  await files().write('large', new Blob([bytes]).stream())
  assert.equal((await run('sha256sum large')).split(' ')[0], sha(bytes))
  assert.equal(sha(await files().read('large', { format: 'bytes' })), sha(bytes))
  await files().remove('large')
})

test('transfers are compressed in both directions', async () => {
  const text = 'the same line again\n'.repeat(50_000)
  await files().write('packed.txt', text, { gzip: true })
  assert.equal(await run('wc -c < packed.txt'), `${text.length}\n`)
  assert.equal(await files().read('packed.txt', { gzip: true }), text)
})

test('several files are written in one call', async () => {
  const list = Array.from({ length: 5 }, (_, i) => ({ path: `many/${i}.txt`, data: `file ${i}` }))
  const written = await files().write(list)
  assert.deepEqual(written.map((one) => one.path), list.map((one) => `/home/user/${one.path}`))
  assert.equal(await run('cat many/*.txt'), 'file 0file 1file 2file 3file 4')
  assert.deepEqual(await files().write([]), [])
})

test('metadata is kept with the file', async () => {
  const metadata = { author: 'me', purpose: 'a test' }
  assert.deepEqual((await files().write('described', 'x', { metadata })).metadata, metadata)
  assert.deepEqual((await files().getInfo('described')).metadata, metadata)
  const listed = (await files().list('.')).find((one) => one.name === 'described')
  assert.deepEqual(listed.metadata, metadata)
  assert.equal((await files().getInfo('empty')).metadata, undefined)
  // Overwriting the file replaces its metadata.
  const other = { purpose: 'another' }
  assert.deepEqual((await files().write('described', 'y', { metadata: other })).metadata, other)
  assert.deepEqual((await files().getInfo('described')).metadata, other)
  assert.equal((await files().write('described', 'z')).metadata, undefined)
  assert.equal((await files().getInfo('described')).metadata, undefined)
})

test('a missing path is not found', async () => {
  await assert.rejects(files().read('no/such'), FileNotFoundError)
  await assert.rejects(files().getInfo('no/such'), FileNotFoundError)
  await assert.rejects(files().list('no/such'), FileNotFoundError)
  await assert.rejects(files().rename('no/such', 'x'), FileNotFoundError)
  assert.equal(await files().exists('no/such'), false)
  await files().remove('no/such')
})

test('reading a folder fails', async () => {
  await files().makeDir('folder')
  await assert.rejects(files().read('folder'), InvalidArgumentError)
  await assert.rejects(files().write('folder', 'x'))
  await assert.rejects(files().list('described'), InvalidArgumentError)
})

test('files of an unknown user are rejected', async () => {
  await assert.rejects(files().read('empty', { user: 'no-such-user' }), AuthenticationError)
  await assert.rejects(files().write('x', 'x', { user: 'no-such-user' }), AuthenticationError)
})

test('folders', async () => {
  assert.equal(await files().makeDir('one/two/three'), true)
  assert.equal(await files().makeDir('one/two/three'), false)
  assert.equal(await run('stat -c %U one one/two one/two/three'), 'user\nuser\nuser\n')
  await assert.rejects(files().makeDir('described'), InvalidArgumentError)
  assert.equal(await files().exists('one/two'), true)
})

test('lists, shallow and deep', async () => {
  await run('mkdir -p tree/a/b tree/c; touch tree/a/b/f tree/a/z tree/a.txt tree/c/g')
  const names = async (depth) =>
    (await files().list('tree', { depth })).map((one) => one.path.replace('/home/user/tree/', ''))
  assert.deepEqual(await names(1), ['a', 'a.txt', 'c'])
  assert.deepEqual(await names(3), ['a', 'a/b', 'a/b/f', 'a/z', 'a.txt', 'c', 'c/g'])
  const a = (await files().list('tree'))[0]
  assert.deepEqual([a.type, a.name, a.owner, a.group], [FileType.DIR, 'a', 'user', 'user'])
  assert.equal(a.permissions, 'drwxr-xr-x')
  assert.deepEqual(await files().list('tree/a/b/..' + '/../c').then((l) => l.length), 1)
})

test('everything about a file', async () => {
  await files().write('told.txt', 'hello')
  const info = await files().getInfo('told.txt')
  assert.deepEqual(
    [info.name, info.type, info.path, info.size, info.mode, info.permissions],
    ['told.txt', FileType.FILE, '/home/user/told.txt', 5, 0o644, '-rw-r--r--'],
  )
  assert.ok(Math.abs(info.modifiedTime.getTime() - Date.now()) < 120_000)
})

test('links', async () => {
  await run('ln -sf told.txt link; ln -sf tree dirlink; ln -sf nowhere broken')
  const link = await files().getInfo('link')
  assert.equal(link.type, FileType.FILE)
  assert.equal(link.symlinkTarget, '/home/user/told.txt')
  assert.match(link.permissions, /^L/)
  assert.equal((await files().getInfo('dirlink')).type, FileType.DIR)
  assert.equal(await files().read('link'), 'hello')
  assert.equal(await files().exists('broken'), true)
})

test('moving', async () => {
  await files().write('from.txt', 'moved')
  const moved = await files().rename('from.txt', 'new/place/to.txt')
  assert.equal(moved.path, '/home/user/new/place/to.txt')
  assert.equal(await files().read('new/place/to.txt'), 'moved')
  assert.equal(await files().exists('from.txt'), false)
  await files().write('other.txt', 'other')
  await files().rename('other.txt', 'new/place/to.txt')
  assert.equal(await files().read('new/place/to.txt'), 'other')
})

test('removing', async () => {
  await files().remove('new/place/to.txt')
  assert.equal(await files().exists('new/place/to.txt'), false)
  await files().remove('tree')
  assert.equal(await files().exists('tree'), false)
})

test('files of the kernel', async () => {
  assert.match(await files().read('/proc/self/status'), /^Name:/)
})
