package dev.isola.provider.microvmctl;

import dev.isola.codec.time.Deadline;
import dev.isola.scripts.ContentFailure;
import dev.isola.spi.Bytes;
import dev.isola.spi.error.SandboxException;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** The verbs of the contract. Every call has a deadline, at which its process tree is killed. */
record Controller(ControllerCommand command, ControllerErrors errors) {
  /** Of a listing or another result that is held in memory. */
  private static final int MAX_OUTPUT = 16 << 20;

  /** What the process may take beyond the timeout of the command that it runs. */
  static final Duration GRACE = Duration.ofSeconds(30);

  private static final Duration SHORT = Duration.ofSeconds(60);
  private static final Duration LEAST_READ_TIME = Duration.ofSeconds(1);

  Controller(ControllerCommand command) {
    this(command, new ControllerErrors(command));
  }

  /** The end of a verb, with what it wrote. */
  record Result(int exitCode, Bytes out, String error) {
    String text() {
      return out.utf8();
    }
  }

  void create(String vm, Duration ttl, List<String> options, Duration timeout) {
    List<String> verb = new ArrayList<>(List.of("create", "--id", vm, "--ttl-ms"));
    verb.add(Long.toString(Math.max(1, ttl.toMillis())));
    verb.addAll(options);
    Result _ = require("create", verb, InputStream.nullInputStream(), timeout);
  }

  void kill(String vm, Duration timeout) {
    Result _ = require("kill", List.of("kill", "--id", vm), InputStream.nullInputStream(), timeout);
  }

  /** Runs a program in the sandbox that ends soon. The exit code is that of the program. */
  Result exec(String vm, Duration timeout, byte[] stdin, List<String> argv) {
    return call(
        "exec", execLine(vm, timeout, argv), new ByteArrayInputStream(stdin), timeout.plus(GRACE));
  }

  static List<String> execLine(String vm, Duration timeout, List<String> argv) {
    List<String> verb = new ArrayList<>(List.of("exec", "--id", vm, "--timeout-ms"));
    verb.add(Long.toString(Math.max(1, timeout.toMillis())));
    verb.add("--");
    verb.addAll(argv);
    return verb;
  }

  void write(String vm, String path, InputStream content, Duration timeout) {
    Result _ = require("write", List.of("write", "--id", vm, "--path", path), content, timeout);
  }

  ControllerProcess read(String vm, String path) {
    ControllerProcess process =
        ControllerProcess.start(command, List.of("read", "--id", vm, "--path", path, "--base64"));
    process.closeInput();
    return process;
  }

  String list(String vm, String path) {
    List<String> verb = List.of("list", "--id", vm, "--path", path, "--json");
    return require("list", verb, InputStream.nullInputStream(), SHORT).text();
  }

  Result probe(Duration timeout) {
    return call("probe", List.of("probe"), InputStream.nullInputStream(), timeout);
  }

  private Result require(String name, List<String> verb, InputStream stdin, Duration timeout) {
    Result result = call(name, verb, stdin, timeout);
    if (result.exitCode() != 0) {
      throw errors.of(name, result.exitCode(), result.error());
    }
    return result;
  }

  /** Runs a verb to its end. The content is sent while the output is read. */
  private Result call(String name, List<String> verb, InputStream stdin, Duration timeout) {
    Deadline deadline = Deadline.in(timeout);
    ControllerProcess process = ControllerProcess.start(command, verb);
    AtomicReference<@Nullable SandboxException> failure = new AtomicReference<>();
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    Thread reader =
        Thread.ofVirtual()
            .name("microvmctl-stdout")
            .start(() -> readAll(name, process, out, failure));
    Thread writer =
        Thread.ofVirtual().name("microvmctl-stdin").start(() -> send(stdin, process, failure));
    try {
      boolean ended = process.await(timeout) && join(reader, deadline);
      SandboxException early = failure.get();
      if (early != null) {
        throw early;
      }
      if (!ended) {
        throw errors.timeout(name, timeout.toMillis(), process.error());
      }
      return new Result(process.exitCode(), Bytes.of(out.toByteArray()), process.error());
    } finally {
      process.close();
      writer.interrupt();
    }
  }

  private static boolean join(Thread thread, Deadline deadline) {
    try {
      Duration left = deadline.left();
      return thread.join(left.compareTo(LEAST_READ_TIME) > 0 ? left : LEAST_READ_TIME);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw ControllerProcess.cancelled(e);
    }
  }

  private void readAll(
      String name,
      ControllerProcess process,
      ByteArrayOutputStream out,
      AtomicReference<@Nullable SandboxException> failure) {
    byte[] buffer = new byte[64 * 1024];
    try {
      for (int n = process.out().read(buffer); n >= 0; n = process.out().read(buffer)) {
        if (out.size() + n > MAX_OUTPUT) {
          failure.compareAndSet(
              null, errors.malformed(name, "it is larger than " + MAX_OUTPUT + " bytes"));
          process.close();
          return;
        }
        out.write(buffer, 0, n);
      }
    } catch (IOException e) {
      // The process was killed; its end is reported by the caller.
    }
  }

  /** A source that fails must not look like the end of the content. */
  private static void send(
      InputStream content,
      ControllerProcess process,
      AtomicReference<@Nullable SandboxException> failure) {
    byte[] buffer = new byte[64 * 1024];
    try (OutputStream in = process.in()) {
      while (true) {
        int count;
        try {
          count = content.read(buffer);
        } catch (IOException e) {
          failure.compareAndSet(null, ContentFailure.of(e));
          process.close();
          return;
        } catch (SandboxException e) {
          failure.compareAndSet(null, e);
          process.close();
          return;
        }
        if (count < 0) {
          return;
        }
        in.write(buffer, 0, count);
        in.flush();
      }
    } catch (IOException e) {
      // The controller ended or closed its input; its exit code tells why.
    }
  }
}
