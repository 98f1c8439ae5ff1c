package dev.isola.host.launch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.spi.InstanceId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Mounts a volume over the agent, bypassing the validation of the spec. */
final class ReservedMountsTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);

  @TempDir Path folder;

  private Launcher launcher;
  private Path planted;

  @BeforeEach
  void open() throws IOException {
    launcher =
        new Launcher(LauncherBinary.in(folder.resolve("data")), folder, new InstanceId("test"));
    planted = Files.createDirectory(folder.resolve("planted"));
    Files.writeString(planted.resolve("agent"), "#!/bin/sh\n");
  }

  @AfterEach
  void close() {
    launcher.close();
  }

  /** Runs a plan that stages a root and prints its content as an error. */
  private String staged(LaunchPlan plan) throws IOException {
    plan.run(List.of("/bin/sh", "-c", "cd /tmp/root && ls -A .isola >&2; mount >&2; exit 1"));
    return launcher.execute(plan.encode(), TIMEOUT);
  }

  private static LaunchPlan stage() {
    return new LaunchPlan().step("users", "0", "0", "65536").step("stage");
  }

  @Test
  void mountOnTheAgentsFolderIsRejected() throws IOException {
    for (String path : List.of("/.isola", "/.isola/agent", "/proc", "/dev/x", "/sys", "/")) {
      assertThat(staged(stage().step("bind", planted.toString(), path).step("reserve")))
          .as(path)
          .contains("reserved path");
      assertThat(staged(stage().step("tmpfs", path, "mode=0755").step("reserve")))
          .as(path)
          .startsWith("error cannot mount on " + path + ", which leads to a reserved path");
    }
  }

  @Test
  void mountThroughASymbolicLinkIsRejected() throws IOException {
    LaunchPlan plan =
        stage().step("link", "/.isola", "/data").step("folder", "/.isola", "755", "0", "0");
    assertThat(staged(plan.step("bind", planted.toString(), "/data").step("reserve")))
        .contains("reserved path");
  }

  @Test
  void symbolicLinkInPlaceOfTheAgentsFolderIsRejected() throws IOException {
    LaunchPlan plan = stage().step("folder", "/workspace", "755", "0", "0");
    assertThat(staged(plan.step("link", "/workspace", "/.isola").step("reserve")))
        .contains("occupies /.isola");
  }

  @Test
  void agentHasAPrivateFolder() throws IOException {
    LaunchPlan plan = stage().step("bind", planted.toString(), "/data").step("reserve");
    String shown =
        staged(plan.step("bind", planted.toString(), "/.isola/layer", "ro").step("lock"));
    assertThat(shown).startsWith("error layer");
  }
}
