package dev.isola.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.isola.client.ApiKeys;
import dev.isola.client.Command;
import dev.isola.client.EventFilter;
import dev.isola.client.EventStream;
import dev.isola.client.ExecResult;
import dev.isola.client.Execution;
import dev.isola.client.ExecutionInfo;
import dev.isola.client.Exit;
import dev.isola.client.FileInfo;
import dev.isola.client.ForkOptions;
import dev.isola.client.Isola;
import dev.isola.client.IsolaOptions;
import dev.isola.client.Output;
import dev.isola.client.Sandbox;
import dev.isola.client.SandboxFilter;
import dev.isola.client.SandboxInfo;
import dev.isola.client.SandboxSpec;
import dev.isola.client.Terminal;
import dev.isola.client.error.Conflict;
import dev.isola.client.error.Forbidden;
import dev.isola.client.error.InvalidRequest;
import dev.isola.client.error.NotFound;
import dev.isola.client.error.ProviderUnavailable;
import dev.isola.client.error.Unauthenticated;
import dev.isola.client.error.Unsupported;
import dev.isola.client.examples.FollowBuild;
import dev.isola.client.examples.RunCode;
import dev.isola.testing.server.TestServer;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A1: the Java SDK against a real server with the subprocess provider. */
@Timeout(120)
class JavaSdkTest {
  @TempDir static Path data;
  private static TestServer server;
  private static Isola isola;

  @TempDir Path folder;
  private Sandbox sandbox;

  @BeforeAll
  static void start() {
    server = TestServer.start(data, "subprocess");
    isola = Isola.connect(server.url(), server.key());
  }

  @AfterAll
  static void end() {
    isola.close();
    server.close();
  }

  @BeforeEach
  void make() {
    sandbox = isola.create(SandboxSpec.builder().tag("test", "sdk").build());
  }

  @AfterEach
  void destroy() {
    sandbox.destroy();
    assertThat(isola.list(SandboxFilter.ALL)).isEmpty();
  }

  @Test
  void createsListsAndDestroysASandbox() {
    SandboxInfo info = sandbox.info();
    assertThat(info.state()).isEqualTo("running");
    assertThat(info.provider()).isEqualTo("subprocess");
    assertThat(info.isolation()).isEqualTo("process");
    assertThat(info.tags()).containsEntry("test", "sdk");
    assertThat(isola.list(SandboxFilter.ALL.tag("test", "sdk")))
        .extracting(SandboxInfo::id)
        .containsExactly(sandbox.id());
    assertThat(isola.list(SandboxFilter.ALL.tag("test", "other"))).isEmpty();
    assertThat(sandbox.renew(Duration.ofHours(1)).expiresAt()).isPresent();
    sandbox.destroy();
    sandbox.destroy(); // idempotent
    assertThat(isola.list(SandboxFilter.ALL.state("destroyed")))
        .extracting(SandboxInfo::id)
        .contains(sandbox.id());
  }

  @Test
  void runsCommands() {
    ExecResult result =
        sandbox.exec(Command.shell("echo out $A; echo err >&2; pwd; exit 3").withEnv("A", "b c"));
    assertThat(result.stdout()).startsWith("out b c\n");
    assertThat(result.stderr()).isEqualTo("err\n");
    assertThat(result.exitCode()).isEqualTo(3);
    assertThat(result.exit()).isEqualTo(new Exit.Exited(3));
    assertThat(sandbox.exec(Command.argv("printf", "%s|", "a b", "$HOME")).stdout())
        .isEqualTo("a b|$HOME|");
    assertThat(sandbox.exec(Command.argv("cat"), "input").stdout()).isEqualTo("input");
    assertThat(sandbox.exec(Command.shell("sleep 60").withTimeout(Duration.ofMillis(200))).exit())
        .isInstanceOf(Exit.TimedOut.class);
    assertThat(sandbox.exec("kill -9 $$").exit()).isEqualTo(new Exit.Signaled("SIGKILL", 9));
  }

  @Test
  void streamsOutputAndWritesInput() throws IOException {
    try (Execution execution = sandbox.start(Command.shell("cat; echo done >&2"), true)) {
      try (OutputStream stdin = execution.stdin()) {
        stdin.write("one\n".getBytes(StandardCharsets.UTF_8));
        stdin.write(new byte[] {(byte) 0xff, 0, 10}); // not UTF-8
      }
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      ByteArrayOutputStream err = new ByteArrayOutputStream();
      assertThat(execution.copyTo(out, err).shellCode()).isZero();
      assertThat(out.toByteArray()).isEqualTo(new byte[] {'o', 'n', 'e', '\n', (byte) 0xff, 0, 10});
      assertThat(err.toString(StandardCharsets.UTF_8)).isEqualTo("done\n");
    }
  }

  @Test
  void resumesAnExecutionAtAnOffset() {
    String id;
    try (Execution execution = sandbox.start(Command.shell("printf 0123456789").withTag("mine"))) {
      execution.await();
      id = execution.id();
    }
    ExecutionInfo info =
        sandbox.executions().stream().filter(one -> one.id().equals(id)).findFirst().orElseThrow();
    assertThat(info.running()).isFalse();
    assertThat(info.onTerminal()).isFalse();
    assertThat(info.endOffset()).isEqualTo(10);
    try (Execution again = sandbox.execution(id, 4)) {
      Output.Data piece = (Output.Data) again.read().orElseThrow();
      assertThat(piece.offset()).isEqualTo(4);
      assertThat(piece.text()).isEqualTo("456789");
      assertThat(again.read()).isEmpty();
    }
  }

  @Test
  void sendsSignals() {
    try (Execution execution = sandbox.start(Command.argv("sleep", "300"))) {
      execution.signal("TERM");
      assertThat(execution.await()).isEqualTo(new Exit.Signaled("SIGTERM", 15));
    }
  }

  @Test
  void managesFiles() throws IOException {
    dev.isola.client.Files files = sandbox.files();
    byte[] large = new byte[3_000_000];
    new Random(1).nextBytes(large);
    AtomicLong progress = new AtomicLong();
    files.write(
        "d/large",
        new ByteArrayInputStream(large),
        large.length,
        OptionalInt.of(0600),
        progress::set);
    assertThat(progress).hasValue(large.length);
    try (InputStream in = files.read("d/large")) {
      assertThat(in.readAllBytes()).isEqualTo(large);
    }
    FileInfo info = files.stat("d/large");
    assertThat(info.size()).isEqualTo(large.length);
    assertThat(info.mode()).isEqualTo(0600);
    files.changeMode("d/large", 0640);
    assertThat(files.stat("d/large").mode()).isEqualTo(0640);
    files.write("d/ü & ?.txt", new ByteArrayInputStream(new byte[] {'x'}));
    assertThat(files.readText("d/ü & ?.txt")).isEqualTo("x");
    files.write("d/empty", "");
    assertThat(files.stat("d/empty").size()).isZero();
    files.makeFolder("d/e/f");
    files.move("d/empty", "d/e/moved", false);
    assertThat(files.list("d", 0))
        .extracting(FileInfo::name)
        .contains("large", "e", "f", "moved")
        .doesNotContain("empty");
    assertThat(files.glob("d", "**/m*")).extracting(FileInfo::name).containsExactly("moved");
    assertThat(files.find("d/nothing")).isEmpty();
    assertThatThrownBy(() -> files.move("d/large", "d/e/moved", false))
        .isInstanceOf(Conflict.class);
    files.remove("d", true);
    assertThat(files.find("d")).isEmpty();
  }

  @Test
  void uploadsAndDownloadsTrees() throws IOException {
    Path tree = folder.resolve("tree");
    String deep = "a-long-name-".repeat(12);
    Files.createDirectories(tree.resolve(deep).resolve("sub"));
    byte[] content = new byte[100_000];
    new Random(2).nextBytes(content);
    Files.write(tree.resolve(deep).resolve("sub").resolve("file"), content);
    Files.writeString(tree.resolve("run"), "#!/bin/sh\n");
    Files.setPosixFilePermissions(
        tree.resolve("run"), PosixFilePermissions.fromString("rwxr-x---"));
    Files.createSymbolicLink(tree.resolve("link"), Path.of(deep + "/sub/file"));

    sandbox.files().upload(tree, "up", bytes -> {});
    assertThat(sandbox.exec("ln up/run up/hard; ln -s /etc up/out; cat up/link | wc -c").stdout())
        .contains("100000");
    Path back = folder.resolve("back");
    assertThat(sandbox.files().download("up", back, bytes -> {})).containsExactly("out -> /etc");

    assertThat(back.resolve(deep).resolve("sub").resolve("file")).hasBinaryContent(content);
    assertThat(Files.getPosixFilePermissions(back.resolve("run")))
        .isEqualTo(PosixFilePermissions.fromString("rwxr-x---"));
    assertThat(back.resolve("hard")).hasSameTextualContentAs(back.resolve("run"));
    assertThat(Files.readSymbolicLink(back.resolve("link"))).hasToString(deep + "/sub/file");
    assertThat(Files.exists(back.resolve("out"), java.nio.file.LinkOption.NOFOLLOW_LINKS))
        .isFalse();
  }

  @Test
  void runsACommandOnATerminal() throws IOException {
    try (Terminal terminal =
        sandbox.terminal(Command.shell("stty size; read x; stty size; exit 5"), 33, 99)) {
      StringBuilder screen = new StringBuilder();
      while (screen.indexOf("\n") < 0) {
        screen.append(((Output.Data) terminal.read().orElseThrow()).text());
      }
      terminal.resize(44, 111);
      terminal.stdin().write("go\r".getBytes(StandardCharsets.UTF_8));
      for (Optional<Output> piece = terminal.read(); piece.isPresent(); piece = terminal.read()) {
        screen.append(((Output.Data) piece.get()).text());
      }
      assertThat(screen.toString().replace("\r", "").lines())
          .startsWith("33 99")
          .endsWith("44 111");
      assertThat(terminal.await()).isEqualTo(new Exit.Exited(5));

      try (Terminal again = sandbox.attach(terminal.id(), 0)) {
        Output.Data all = (Output.Data) again.read().orElseThrow();
        assertThat(all.text()).startsWith("33 99");
      }
    }
  }

  @Test
  void detachesAndReattachesATerminal() throws IOException {
    String id;
    long offset;
    try (Terminal terminal =
        sandbox.terminal(Command.shell("echo one; read x; echo two"), 24, 80)) {
      assertThat(((Output.Data) terminal.read().orElseThrow()).text()).startsWith("one");
      id = terminal.id();
      offset = terminal.offset();
    }
    try (Terminal terminal = sandbox.attach(id, offset)) {
      Thread.ofVirtual()
          .start(
              () -> {
                try {
                  terminal.stdin().write('\r');
                } catch (IOException e) {
                  throw new AssertionError(e);
                }
              });
      StringBuilder screen = new StringBuilder();
      for (Optional<Output> piece = terminal.read(); piece.isPresent(); piece = terminal.read()) {
        screen.append(((Output.Data) piece.get()).text());
      }
      assertThat(screen.toString()).contains("two").doesNotContain("one");
    }
  }

  @Test
  void streamsEvents() {
    try (EventStream events = isola.events(EventFilter.ALL)) {
      Sandbox other = isola.create(SandboxSpec.DEFAULT);
      EventStream.Event first = events.next();
      assertThat(first.type()).isEqualTo("spawn");
      assertThat(first.sandbox()).contains(other.id());
      assertThat(events.next().type()).isEqualTo("ready");
      other.destroy();
      try (EventStream again =
          isola.events(EventFilter.ALL.sandbox(other.id()).after(first.number()))) {
        assertThat(again.next().type()).isEqualTo("ready");
      }
    }
  }

  @Test
  void managesKeysAndPorts() {
    ApiKeys.CreatedKey made = isola.keys().create("reader", "read");
    assertThat(made.toString()).doesNotContain(made.key());
    assertThat(isola.keys().list()).extracting(ApiKeys.ApiKey::name).contains("reader");
    try (Isola reader = Isola.connect(server.url(), made.key())) {
      assertThat(reader.list(SandboxFilter.ALL)).hasSize(1);
      assertThatThrownBy(() -> reader.create(SandboxSpec.DEFAULT)).isInstanceOf(Forbidden.class);
    }
    isola.keys().revoke("reader");
    sandbox.ports().setPublic(8000, true);
    assertThat(sandbox.ports().list()).singleElement().matches(port -> port.port() == 8000);
    assertThat(sandbox.ports().link(8000, Duration.ofMinutes(1)).url()).startsWith("http://8000-");
    assertThat(isola.providers()).extracting(one -> one.get("name")).contains("subprocess");
  }

  @Test
  void throwsTheExceptionOfTheProblem() {
    assertThat(catchThrowableOfType(NotFound.class, () -> isola.sandbox("nothere").info()).code())
        .isEqualTo("SANDBOX_NOT_FOUND");
    NotFound missing = catchThrowableOfType(NotFound.class, () -> sandbox.files().stat("nothing"));
    assertThat(missing.code()).isEqualTo("FILE_NOT_FOUND");
    assertThat(missing.category()).isEqualTo("CALLER");
    assertThat(missing.status()).isEqualTo(404);
    assertThat(missing.remedy()).isNotEmpty();
    assertThat(missing.requestId()).isNotEmpty();
    assertThat(
            catchThrowableOfType(InvalidRequest.class, () -> sandbox.exec(Command.argv("/no")))
                .code())
        .isEqualTo("COMMAND_NOT_FOUND");
    assertThat(
            catchThrowableOfType(
                    InvalidRequest.class,
                    () -> isola.create(SandboxSpec.builder().set("imge", "x").build()))
                .code())
        .isEqualTo("INVALID_SPEC");
    try (Isola stranger = Isola.connect(server.url(), "isk_wrong")) {
      assertThatThrownBy(() -> stranger.list(SandboxFilter.ALL))
          .isInstanceOf(Unauthenticated.class);
    }
    try (Isola unreachable = Isola.connect("http://127.0.0.1:1", "isk_wrong")) {
      assertThat(
              catchThrowableOfType(
                      ProviderUnavailable.class, () -> unreachable.sandbox("x").exec("true"))
                  .code())
          .isEqualTo("SERVER_UNREACHABLE");
    }
  }

  @Test
  void rejectsForksOfMemory() {
    Unsupported refused =
        catchThrowableOfType(
            Unsupported.class, () -> sandbox.forkEach(ForkOptions.memory().count(2)));
    assertThat(refused.code()).isEqualTo("NOT_IMPLEMENTED");
    assertThat(refused.status()).isEqualTo(501);
    assertThat(refused.remedy()).contains("kind filesystem");
    assertThat(isola.list(SandboxFilter.ALL)).hasSize(1);
  }

  @Test
  void rejectsInvalidUrlsAndKeys() {
    for (String url :
        Arrays.asList("", "nonsense", "ftp://x", "http://", "http://a:b@c", "http://x?y")) {
      assertThatThrownBy(() -> IsolaOptions.of(url, "key"))
          .as(url)
          .isInstanceOf(InvalidRequest.class);
    }
    assertThatThrownBy(() -> IsolaOptions.of("http://x", "a\nb"))
        .isInstanceOf(InvalidRequest.class);
    assertThat(IsolaOptions.of("https://x/", "secret").toString()).doesNotContain("secret");
  }

  @Test
  void examplesRun() throws IOException {
    assertThat(RunCode.run(isola, "echo $((6 * 7))")).isEqualTo("42\n");
    assertThat(RunCode.run(isola, "echo why >&2; exit 4")).contains("code=4", "why");
    Path source = Files.createDirectory(folder.resolve("source"));
    Files.writeString(source.resolve("Makefile"), "all:\n\t@echo built; cp in out\n");
    Files.writeString(source.resolve("in"), "content");
    StringBuilder screen = new StringBuilder();
    Path result = folder.resolve("result");
    assertThat(FollowBuild.build(isola, source, result, screen::append))
        .isEqualTo(new Exit.Exited(0));
    assertThat(screen).hasToString("built\n");
    assertThat(result.resolve("out")).hasContent("content");
  }
}
