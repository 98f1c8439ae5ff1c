package dev.isola.store;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.isola.spi.Isolation;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.Secret;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A process that writes until it is killed and prints what it acknowledges: the id of a running
 * sandbox and the number of its event.
 *
 * <p>With {@code early} it has the planted fault that the test must detect: it acknowledges before
 * it writes.
 */
final class LedgerCrashChild {
  private static final int THREADS = 8;

  private final Ledger ledger;
  private final String prefix;
  private final ReentrantLock turn = new ReentrantLock();
  private final FileOutputStream out = new FileOutputStream(FileDescriptor.out);

  private LedgerCrashChild(Ledger ledger, String prefix) {
    this.ledger = ledger;
    this.prefix = prefix;
  }

  /** Returns the command that runs this class with the given arguments. */
  static List<String> command(String... arguments) {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-XX:TieredStopAtLevel=1",
                "-Dslf4j.internal.verbosity=ERROR",
                "-cp",
                System.getProperty("java.class.path"),
                LedgerCrashChild.class.getName()));
    command.addAll(List.of(arguments));
    return command;
  }

  /** Arguments: a prefix, {@code honest} or {@code early}, then a folder, or a URL and a schema. */
  public static void main(String[] args) {
    LedgerConfig.Location location =
        args.length == 3
            ? new LedgerConfig.Folder(Path.of(args[2]))
            : new LedgerConfig.Server(args[2], "postgres", Secret.of("postgres"), args[3], THREADS);
    LedgerConfig config =
        new LedgerConfig(
            location, LedgerConfig.DEFAULT_DEADLINE, LedgerConfig.DEFAULT_KEY_RETENTION);
    try (Ledger ledger = Ledgers.open(config);
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      LedgerCrashChild child = new LedgerCrashChild(ledger, args[0]);
      for (int i = 0; i < THREADS; i++) {
        String name = args[0] + (char) ('a' + i);
        threads.execute(
            args[1].equals("early") ? () -> child.early(name) : () -> child.honest(name));
      }
    }
  }

  private void honest(String name) {
    for (int i = 0; ; i++) {
      write(name + i);
      acknowledge(name + i + " 1");
    }
  }

  private void early(String name) {
    for (int i = 0; ; i++) {
      acknowledge(name + i + " 0");
      write(name + i);
    }
  }

  private void write(String name) {
    SandboxId id = new SandboxId(name);
    Instant now = Instant.now();
    SandboxEntry intent =
        ledger
            .sandboxes()
            .insert(
                SandboxEntry.intent(id, "{}", "hash", "memory", Isolation.PROCESS, now)
                    .label("round", prefix)
                    .build());
    boolean _ =
        ledger.atomically(
            parts -> {
              if (parts.sandboxes().update(intent.withState(SandboxState.RUNNING, now))
                  instanceof UpdateResult.Stale) {
                throw new IllegalStateException("another process wrote this entry");
              }
              parts.events().append(NewEvent.of(id, "running", "{}", now));
              return true;
            });
  }

  private void acknowledge(String line) {
    turn.lock();
    try {
      out.write((line + "\n").getBytes(US_ASCII));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      turn.unlock();
    }
  }
}
