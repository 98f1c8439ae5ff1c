package dev.isola.engine.metrics;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.LinkOption.NOFOLLOW_LINKS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.isola.engine.FakeLog;
import dev.isola.engine.api.RecentErrors;
import dev.isola.engine.decorator.ProviderDecorator;
import dev.isola.engine.lifecycle.ActivityTracker;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Attaching;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.NotFound;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.Execution;
import dev.isola.spi.exec.ExecutionId;
import dev.isola.spi.exec.Exit;
import dev.isola.spi.file.FileSystem;
import dev.isola.spi.file.ReadRange;
import dev.isola.spi.file.TreeLimits;
import dev.isola.spi.file.WriteOptions;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.testing.provider.TestProviderFactory;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MetricsObserverTest {
  @TempDir Path folder;
  private final FakeMetricsRecorder recorder = new FakeMetricsRecorder();
  private final OpenExecutions executions =
      new OpenExecutions(recorder, new RecentErrors(InstantSource.system()));
  private Provider provider;
  private Sandbox inner;
  private Sandbox sandbox;

  @BeforeEach
  void open() {
    provider =
        new TestProviderFactory()
            .create(
                ProviderConfig.EMPTY,
                new ProviderContext(new InstanceId("meter"), folder, InstantSource.system()));
    inner = provider.create(SandboxSpec.builder(new SandboxId("box")).build());
    sandbox =
        new Instrumentation(recorder, new ActivityTracker(), executions)
            .sandbox(new ProviderDecorator("p", provider).attach(inner.id()).orElseThrow(), "p");
  }

  @AfterEach
  void close() {
    provider.destroy(inner.id(), dev.isola.spi.DestroyOptions.FORCE);
    provider.close();
  }

  @Test
  void commandsAreRecordedWithOutcomeAndBytes() {
    assertThat(sandbox.run(Command.shell("echo hello")).stdout().text()).isEqualTo("hello\n");
    assertThat(sandbox.run(Command.shell("exit 3")).exitCode()).isEqualTo(3);
    assertThat(recorder.told)
        .containsExactly(
            "started p",
            "moved p STREAM OUT 6",
            "ended p OK",
            "started p",
            "moved p STREAM OUT 0",
            "ended p NONZERO");
  }

  @Test
  void executionEndIsRecordedOnce() throws IOException {
    try (Execution execution = sandbox.start(Command.shell("cat").withStdin())) {
      try (OutputStream in = execution.stdin()) {
        in.write("abc".getBytes(UTF_8));
      }
      while (execution.read().isPresent()) {
        assertThat(recorder.told).contains("moved p STREAM IN 3");
      }
      assertThat(execution.await()).isEqualTo(new Exit.Exited(0));
      assertThat(execution.await()).isEqualTo(new Exit.Exited(0));
    }
    assertThat(recorder.told)
        .containsExactly("started p", "moved p STREAM IN 3", "moved p STREAM OUT 3", "ended p OK");
  }

  @Test
  void sweepRecordsBackgroundExecutions() {
    ExecutionId id = background("exit 3");
    awaitEnd(id);
    executions.sweep(List.of(inner), new FakeLog());
    executions.sweep(List.of(inner), new FakeLog());
    assertThat(recorder.told).containsExactly("started p", "ended p NONZERO");
    assertThat(executions.size()).isZero();
  }

  @Test
  void attachedClientRecordsARunningExecution() {
    ExecutionId id = background("read line");
    executions.sweep(List.of(inner), new FakeLog());
    try (Execution attached = sandbox.as(Attaching.class).orElseThrow().attach(id, 0)) {
      attached.kill();
      attached.await();
    }
    executions.sweep(List.of(inner), new FakeLog());
    assertThat(recorder.told).containsExactly("started p", "ended p SIGNALED");
  }

  @Test
  void executionsOfDestroyedSandboxesAreForgotten() {
    background("read line");
    executions.sweep(List.of(), new FakeLog());
    assertThat(executions.size()).isZero();
    assertThat(recorder.told).containsExactly("started p");
  }

  private ExecutionId background(String script) {
    try (Execution execution = sandbox.start(Command.shell(script).withStdin())) {
      return execution.id();
    }
  }

  private void awaitEnd(ExecutionId id) {
    await()
        .atMost(Duration.ofSeconds(30))
        .until(
            () ->
                inner.as(Attaching.class).orElseThrow().executions().stream()
                    .anyMatch(one -> one.id().equals(id) && !one.running()));
  }

  @Test
  void failedStartIsRecordedByErrorCode() {
    assertThatThrownBy(() -> sandbox.start(Command.argv("/no/such/program")))
        .isInstanceOf(dev.isola.spi.error.InvalidRequest.class);
    assertThat(recorder.told).containsExactly("failed EXECUTION COMMAND_NOT_FOUND");
  }

  @Test
  void fileTransfersRecordBytes() throws IOException {
    FileSystem files = sandbox.files();
    files.writeText("a", "12345", UTF_8);
    files.write("a", new ByteArrayInputStream(new byte[3]), WriteOptions.DEFAULT.appending());
    try (InputStream in = files.read("a", ReadRange.ALL)) {
      assertThat(in.readAllBytes()).hasSize(8);
    }
    try (InputStream in = files.read("a", new ReadRange(0, 2))) {
      assertThat(in.transferTo(new ByteArrayOutputStream())).isEqualTo(2);
    }
    assertThatThrownBy(() -> files.read("none", ReadRange.ALL)).isInstanceOf(NotFound.class);
    assertThatThrownBy(() -> files.stat("none", NOFOLLOW_LINKS)).isInstanceOf(NotFound.class);
    assertThat(files.exists("none")).isFalse();
    assertThat(recorder.told)
        .containsExactly(
            "moved p FILE IN 5",
            "transferred p IN good=true",
            "moved p FILE IN 3",
            "transferred p IN good=true",
            "moved p FILE OUT 8",
            "transferred p OUT good=true",
            "moved p FILE OUT 2",
            "transferred p OUT good=true",
            "transferred p OUT good=false",
            "failed FILES FILE_NOT_FOUND",
            "failed FILES FILE_NOT_FOUND");
  }

  @Test
  void treeTransfersRecordBytes() throws IOException {
    inner.files().writeText("tree/a", "12345", UTF_8);
    byte[] archive;
    try (InputStream in = sandbox.files().exportTree("tree", List.of())) {
      archive = in.readAllBytes();
    }
    sandbox
        .files()
        .importTree("copy", new ByteArrayInputStream(archive), new TreeLimits(100, 1 << 20));
    assertThat(recorder.told)
        .containsExactly(
            "moved p TREE OUT " + archive.length,
            "transferred p OUT good=true",
            "moved p TREE IN 5",
            "transferred p IN good=true");
  }

  @Test
  void supportsTheCapabilitiesOfTheWrappedSandbox() {
    for (Class<? extends Capability> capability : Capability.all()) {
      assertThat(sandbox.as(capability).isPresent())
          .as(Capability.idOf(capability))
          .isEqualTo(inner.as(capability).isPresent());
    }
    assertThat(sandbox.id()).isEqualTo(inner.id());
    assertThat(sandbox.state()).isEqualTo(inner.state());
  }
}
