package dev.isola.provider.microvmctl;

import dev.isola.scripts.ShellWords;
import dev.isola.testing.ssh.TestSshServer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;

/** The settings of the transport {@code ssh} for a test server. */
final class SshSettings {
  private SshSettings() {}

  static Map<String, String> of(TestSshServer server, Path remoteCli) throws IOException {
    return of(server, remoteCli, server.config(), true);
  }

  static Map<String, String> of(TestSshServer server, Path remoteCli, Path config, boolean strict) {
    return Map.of(
        "ssh_host", "127.0.0.1",
        "ssh_user", System.getProperty("user.name"),
        "ssh_port", Integer.toString(server.port()),
        "ssh_key_path", server.key().toString(),
        "ssh_strict_host_key_checking", Boolean.toString(strict),
        "ssh_config", config.toString(),
        "remote_cli", ShellWords.quote(remoteCli.toString()));
  }
}
