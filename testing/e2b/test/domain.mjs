// A program that knows E2B_DOMAIN and E2B_API_KEY only. Prints what it received as JSON.
import { Sandbox } from 'e2b'

const sandbox = await Sandbox.create()
try {
  const result = await sandbox.commands.run('echo $((6 * 7))')
  await sandbox.files.write('site/index.html', 'hello over TLS')
  const again = await Sandbox.connect(sandbox.sandboxId)
  await again.commands.run('python3 -m http.server 8000 --directory site', { background: true })
  const url = `https://${sandbox.getHost(8000)}/index.html`
  let page = await fetch(url)
  for (const end = Date.now() + 20_000; page.status === 502 && Date.now() < end; page = await fetch(url)) {
    await new Promise((go) => setTimeout(go, 50))
  }
  const download = await fetch(await sandbox.downloadUrl('site/index.html'))
  console.log(
    JSON.stringify({
      stdout: result.stdout,
      host: sandbox.getHost(8000),
      page: await page.text(),
      download: await download.text(),
    })
  )
} finally {
  await sandbox.kill()
}
