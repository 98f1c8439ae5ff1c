package dev.isola.app.microvmctl;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import dev.isola.app.cli.CliCommand;
import dev.isola.app.cli.CliEnvironment;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.DataFolder;
import dev.isola.app.cli.ExitCodes;
import dev.isola.app.cli.IoErrors;
import dev.isola.app.serve.RunningServer;
import dev.isola.app.serve.ServeLog;
import dev.isola.app.serve.ServerLog;
import dev.isola.client.Isola;
import dev.isola.client.SandboxFilter;
import dev.isola.engine.config.Config;
import dev.isola.engine.config.ConfigKeys;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.provider.ProviderFactory;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import picocli.CommandLine.Command;

/**
 * Runs the private server, with the backend as its only provider. It ends when it has had no
 * sandbox and no request for a minute; sandboxes do not depend on it.
 */
@Command(name = ServeVerb.NAME, hidden = true, description = "Run the server of microvmctl.")
final class ServeVerb implements CliCommand {
  static final String NAME = "serve";

  private static final Duration IDLE = Duration.ofMinutes(1);
  private static final Duration CHECK_INTERVAL = Duration.ofSeconds(5);
  private static final int KEY_BYTES = 32;

  private final CommandContext context;

  ServeVerb(CommandContext context) {
    this.context = context;
  }

  @Override
  public int run() {
    Config installation = ControllerServer.config(context);
    DataFolder folder = ControllerServer.folder(installation);
    ServerFiles files = new ServerFiles(folder.createIfMissing());
    try {
      Optional<FileLock> lock = files.lock();
      if (lock.isEmpty()) {
        return ExitCodes.OK; // another server runs
      }
      leaveTerminal();
      Files.deleteIfExists(files.addressFile());
      files.truncateLog();
      serve(installation, folder, files);
      return ExitCodes.OK;
    } catch (IOException e) {
      throw Fault.of(
              ErrorCode.PROVIDER_UNAVAILABLE,
              "the folder " + folder.path() + " cannot be used: " + IoErrors.describe(e),
              "correct its permissions")
          .exception(e);
    }
  }

  private void serve(Config installation, DataFolder folder, ServerFiles files) throws IOException {
    String backend = ControllerServer.backend(installation);
    Config config = installation.forPrivateServer(folder.path(), backend);
    String key = "isk_" + HexFormat.of().formatHex(random());
    InstantSource clock = InstantSource.system();
    ServerLog log = log(config, clock);
    try (RunningServer server =
            RunningServer.open(environment(config, backend, key), config, clock, log);
        Isola isola = Isola.connect(server.url(), key)) {
      files.write(new ServerFiles.Address(server.url(), key));
      Thread.ofVirtual().name("isola-idle").start(() -> endWhenIdle(isola, files, server, log));
      server.await();
    } finally {
      Files.deleteIfExists(files.addressFile());
    }
  }

  /** A request is a verb, or a piece of the input of a command: too many to log. */
  private ServerLog log(Config config, InstantSource clock) {
    ServeLog log =
        ServeLog.open(
            context.environment(), clock, config.get(ConfigKeys.LOG_FORMAT), context.errConsole());
    return new ServerLog() {
      @Override
      public void info(String sentence) {
        log.info(sentence);
      }

      @Override
      public void warning(String sentence) {
        log.warning(sentence);
      }

      @Override
      public void write(Line request) {}
    };
  }

  private static void endWhenIdle(
      Isola isola, ServerFiles files, RunningServer server, ServerLog log) {
    try {
      while (true) {
        LockSupport.parkNanos(CHECK_INTERVAL.toNanos());
        boolean used = files.lastUse().isAfter(Instant.now().minus(IDLE));
        if (!used && isola.list(SandboxFilter.ALL).isEmpty()) {
          break;
        }
      }
    } catch (IOException e) {
      log.warning("the server ends: " + IoErrors.describe(e));
    }
    server.close();
  }

  /** Only the backend is opened, so that no other provider is probed. */
  private CliEnvironment environment(Config config, String backend, String key) {
    String type =
        config.providers().containsKey(backend) ? config.providers().get(backend).type() : backend;
    List<ProviderFactory> factories = new ArrayList<>();
    for (ProviderFactory factory : context.environment().factories()) {
      if (factory.name().equals(type)) {
        factories.add(factory);
      }
    }
    Map<String, String> variables = new HashMap<>(context.environment().variables());
    variables.put("ISOLA_API_KEY", key);
    return new CliEnvironment(
        InputStream.nullInputStream(),
        OutputStream.nullOutputStream(),
        context.environment().err(),
        CliEnvironment.TtyStatus.NONE,
        variables,
        factories);
  }

  private static byte[] random() {
    byte[] bytes = new byte[KEY_BYTES];
    new SecureRandom().nextBytes(bytes);
    return bytes;
  }

  /** Signals for the terminal of the verb that started this process must not reach it. */
  @SuppressWarnings("restricted")
  private static void leaveTerminal() {
    try {
      int session =
          (int)
              Linker.nativeLinker()
                  .downcallHandle(
                      Linker.nativeLinker().defaultLookup().findOrThrow("setsid"),
                      FunctionDescriptor.of(JAVA_INT))
                  .invokeExact();
      assert session != 0; // -1 if it leads a session already
    } catch (Throwable e) {
      throw new IllegalStateException("setsid failed", e);
    }
  }
}
