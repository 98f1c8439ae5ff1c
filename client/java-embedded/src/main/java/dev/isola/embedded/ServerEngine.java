package dev.isola.embedded;

import dev.isola.app.cli.CliEnvironment;
import dev.isola.app.serve.RunningServer;
import dev.isola.client.embedded.EmbeddedEngine;
import dev.isola.client.embedded.EmbeddedOptions;
import dev.isola.link.local.TreeRemoval;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.provider.ProviderFactory;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

/**
 * The server of {@code isola serve} in this JVM. It listens on a free port of the loopback
 * interface and accepts one random key, which is not stored.
 */
final class ServerEngine implements EmbeddedEngine {
  private static final int KEY_BYTES = 32;
  private static final EmbeddedLog LOG = new EmbeddedLog();

  private final RunningServer server;
  private final String url;
  private final String key;
  private final Optional<Path> temporary;
  private final AtomicBoolean closing = new AtomicBoolean();
  private final Thread hook = new Thread(this::end, "isola-embedded-end");

  private ServerEngine(RunningServer server, String key, Optional<Path> temporary) {
    this.server = server;
    this.url = server.url();
    this.key = key;
    this.temporary = temporary;
  }

  static ServerEngine start(EmbeddedOptions options) {
    return start(options, ServerEngine::temporaryFolder);
  }

  /**
   * Starts an engine.
   *
   * @param newFolder creates the temporary folder, which is removed on close
   */
  static ServerEngine start(EmbeddedOptions options, Supplier<Path> newFolder) {
    Optional<Path> temporary =
        options.folder().isPresent() ? Optional.empty() : Optional.of(newFolder.get());
    try {
      Path folder = options.folder().or(() -> temporary).orElseThrow().toAbsolutePath().normalize();
      EmbeddedConfig config =
          EmbeddedConfig.of(
              options,
              folder,
              ServiceLoader.load(ProviderFactory.class, ServerEngine.class.getClassLoader()));
      String key = randomKey();
      RunningServer server =
          RunningServer.open(
              environment(key, config.factories()), config.config(), InstantSource.system(), LOG);
      ServerEngine engine = new ServerEngine(server, key, temporary);
      Runtime.getRuntime().addShutdownHook(engine.hook);
      return engine;
    } catch (RuntimeException e) {
      temporary.ifPresent(ServerEngine::remove);
      throw e;
    }
  }

  /** Other users may traverse the folder, to reach workspaces they own, but not list it. */
  private static Path temporaryFolder() {
    try {
      return Files.createTempDirectory(
          "isola-embedded-",
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx--x--x")));
    } catch (IOException e) {
      throw Fault.of(
              ErrorCode.PROVIDER_UNAVAILABLE,
              "no temporary folder can be created in " + System.getProperty("java.io.tmpdir"),
              "set java.io.tmpdir to a writable folder, or use EmbeddedOptions.withFolder")
          .exception(e);
    }
  }

  private static String randomKey() {
    byte[] bytes = new byte[KEY_BYTES];
    new SecureRandom().nextBytes(bytes);
    return "isk_" + HexFormat.of().formatHex(bytes);
  }

  /** Settings of an installation must not reach the engine; the rest locates programs. */
  private static CliEnvironment environment(String key, List<ProviderFactory> factories) {
    Map<String, String> variables = new HashMap<>(System.getenv());
    variables.keySet().removeIf(name -> name.startsWith("ISOLA_"));
    variables.put("ISOLA_API_KEY", key);
    return new CliEnvironment(
        InputStream.nullInputStream(),
        OutputStream.nullOutputStream(),
        OutputStream.nullOutputStream(),
        CliEnvironment.TtyStatus.NONE,
        variables,
        factories);
  }

  @Override
  public String url() {
    return url;
  }

  @Override
  public String key() {
    return key;
  }

  @Override
  public void close() {
    end();
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // The JVM is ending.
    }
  }

  private void end() {
    if (closing.compareAndSet(false, true)) {
      server.close();
      server.await(); // its own shutdown hook may be closing it
      temporary.ifPresent(ServerEngine::remove);
    }
  }

  private static void remove(Path folder) {
    try {
      TreeRemoval.remove(folder);
    } catch (IOException e) {
      LOG.warning("the temporary folder " + folder + " could not be removed: " + e);
    }
  }
}
