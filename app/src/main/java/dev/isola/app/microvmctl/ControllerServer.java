package dev.isola.app.microvmctl;

import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.DataFolder;
import dev.isola.app.remote.ServerOptions;
import dev.isola.client.Isola;
import dev.isola.engine.config.Config;
import dev.isola.engine.config.ConfigKeys;
import dev.isola.spi.InstanceId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.util.List;
import java.util.Map;

/**
 * Chooses the server that the verbs call: that of {@code ISOLA_URL}, or a private one, which starts
 * when it is needed. A server is necessary because an agent has one connection, and the verbs of
 * several processes use a sandbox at the same time.
 */
final class ControllerServer {
  private ControllerServer() {}

  static Isola connect(CommandContext context) {
    Map<String, String> env = context.environment().variables();
    if (!env.getOrDefault("ISOLA_URL", "").isEmpty()) {
      ServerOptions.Server server = new ServerOptions().resolveIfConfigured(env).orElseThrow();
      return Isola.connect(server.url(), server.key());
    }
    return new PrivateServer(folder(config(context))).connect();
  }

  /** Returns the provider that creates the sandboxes. */
  static String backend(Config config) {
    String backend = config.get(ConfigKeys.MICROVMCTL_BACKEND);
    String type =
        config.providers().containsKey(backend) ? config.providers().get(backend).type() : backend;
    if (type.equals(MicrovmctlCommand.NAME)) {
      throw Fault.of(
              ErrorCode.INVALID_REQUEST,
              "microvmctl cannot be its own backend",
              "set microvmctl.backend to another provider, such as qemu")
          .exception();
    }
    return backend;
  }

  static Config config(CommandContext context) {
    return context.configSources(null, List.of()).readOrThrow();
  }

  /** Returns the data folder of the private server, in that of the installation. */
  static DataFolder folder(Config config) {
    DataFolder installation = new DataFolder(config.get(ConfigKeys.DATA));
    InstanceId _ = installation.instance(); // by which purge recognizes the folder
    return installation.controller().sharing(installation);
  }
}
