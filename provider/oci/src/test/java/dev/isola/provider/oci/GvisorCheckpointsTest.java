package dev.isola.provider.oci;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.host.program.Version;
import dev.isola.spi.SandboxId;
import java.util.List;
import org.junit.jupiter.api.Test;

class GvisorCheckpointsTest {
  private static final GvisorCheckpoints CHECKPOINTS =
      new GvisorCheckpoints(Version.of("20240729.0"), List.of("runsc", "--root=/tmp/state"), false);

  @Test
  void fileThatWasRemovedIsNamed() {
    assertThat(
            CHECKPOINTS.obstacle(
                "error checkpoint failed: checkpointing container \"a\": encoding error:"
                    + " gofer.dentry(\"workspace/x\").beforeSave: deleted and invalidated dentries"
                    + " can't be restored: goroutine 79 [running]: panic"))
        .hasValue("a process has the file /workspace/x open, which was removed");
  }

  @Test
  void otherObjectIsNamedWithItsReason() {
    assertThat(CHECKPOINTS.obstacle("encoding error: host.socket(\"s\").beforeSave: bound: x"))
        .hasValue("socket s: bound");
    assertThat(CHECKPOINTS.obstacle("error no space left on device")).isEmpty();
  }

  @Test
  void restoreHasTheOptionsOfTheBoot() {
    assertThat(
            CHECKPOINTS.restoreCommand(
                List.of("runsc", "--network=none", "run", "--detach", "--bundle=/b", "id"), "/p"))
        .containsExactly(
            "runsc",
            "--network=none",
            "restore",
            "--detach",
            "--image-path=/tmp/memory",
            "--pid-file=/p",
            "--bundle=/b",
            "id");
    assertThat(CHECKPOINTS.saveCommand(new SandboxId("id")))
        .startsWith("runsc", "--root=/tmp/state", "checkpoint", "--leave-running")
        .endsWith("id");
  }
}
