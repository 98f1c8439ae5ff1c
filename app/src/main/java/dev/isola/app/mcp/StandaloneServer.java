package dev.isola.app.mcp;

import dev.isola.app.cli.CliEnvironment;
import dev.isola.app.cli.DataFolder;
import dev.isola.app.cli.ErrorReport;
import dev.isola.app.cli.IoErrors;
import dev.isola.app.remote.ServerOptions;
import dev.isola.app.serve.RunningServer;
import dev.isola.app.serve.ServerLog;
import dev.isola.engine.config.Config;
import dev.isola.engine.config.ConfigKeys;
import dev.isola.spi.InstanceId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.StandardOpenOption;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A server in this process, for a client without one. Each process has a data folder of its own,
 * the first that no other process uses; so the next process finds, and ends, what a killed one
 * left.
 */
final class StandaloneServer implements AutoCloseable {
  private static final int KEY_BYTES = 32;

  /** A data folder, and the lock that the kernel releases when the process ends. */
  private record LockedFolder(DataFolder folder, FileChannel lock) {}

  private final RunningServer server;
  private final String key;
  private final FileChannel lock;

  private StandaloneServer(RunningServer server, String key, FileChannel lock) {
    this.server = server;
    this.key = key;
    this.lock = lock;
  }

  static StandaloneServer start(CliEnvironment environment, Config installation) {
    DataFolder data = new DataFolder(installation.get(ConfigKeys.DATA));
    InstanceId _ = data.instance(); // by which purge recognizes the folder
    LockedFolder free = freeFolder(data);
    byte[] random = new byte[KEY_BYTES];
    new SecureRandom().nextBytes(random);
    String key = "isk_" + HexFormat.of().formatHex(random);
    RunningServer server =
        RunningServer.open(
            withKey(environment, key),
            installation.forPrivateServer(free.folder().sharing(data).path()),
            InstantSource.system(),
            new WarningLog(environment));
    return new StandaloneServer(server, key, free.lock());
  }

  private static LockedFolder freeFolder(DataFolder data) {
    for (int number = 0; number < DataFolder.MAX_MCP; number++) {
      DataFolder folder = data.mcp(number);
      try {
        Optional<FileChannel> lock = lock(folder);
        if (lock.isPresent()) {
          return new LockedFolder(folder, lock.get());
        }
      } catch (IOException e) {
        throw unavailable("the folder " + folder.path() + ": " + IoErrors.describe(e), e);
      }
    }
    throw unavailable(DataFolder.MAX_MCP + " others run already", null);
  }

  private static Optional<FileChannel> lock(DataFolder folder) throws IOException {
    FileChannel channel =
        FileChannel.open(
            folder.createIfMissing().resolve("server.lock"),
            StandardOpenOption.CREATE,
            StandardOpenOption.WRITE);
    try {
      FileLock lock = channel.tryLock();
      if (lock != null) {
        return Optional.of(channel);
      }
    } catch (OverlappingFileLockException e) {
      // Another server in this process, in a test.
    }
    channel.close();
    return Optional.empty();
  }

  private static SandboxException unavailable(String why, @Nullable Throwable e) {
    return Fault.of(
            ErrorCode.PROVIDER_UNAVAILABLE,
            "no server can be started for isola mcp: " + why,
            "start isola serve and set ISOLA_URL")
        .exception(e);
  }

  /** Standard input and output belong to the protocol. */
  private static CliEnvironment withKey(CliEnvironment environment, String key) {
    Map<String, String> variables = new HashMap<>(environment.variables());
    variables.put("ISOLA_API_KEY", key);
    return new CliEnvironment(
        InputStream.nullInputStream(),
        OutputStream.nullOutputStream(),
        environment.err(),
        CliEnvironment.TtyStatus.NONE,
        variables,
        environment.factories());
  }

  ServerOptions.Server address() {
    return new ServerOptions.Server(server.url(), key);
  }

  @Override
  public void close() {
    server.close();
    server.await(); // its own shutdown hook may be closing it
    try {
      lock.close();
    } catch (IOException e) {
      // The kernel releases the lock when the process ends.
    }
  }

  /** Writes warnings to standard error, which clients show or store as a log. */
  private record WarningLog(CliEnvironment environment) implements ServerLog {
    @Override
    public void info(String sentence) {}

    @Override
    public void warning(String sentence) {
      ErrorReport.writeLine(environment, "isola mcp: " + sentence);
    }

    @Override
    public void write(Line request) {}
  }
}
