package dev.isola.host.launch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.spi.InstanceId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The launcher's step {@code remove}: trees of any depth, without following symbolic links. */
class FolderRemovalTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(60);

  @TempDir Path folder;

  private String remove(Path... paths) throws IOException {
    Path programs = Files.createDirectories(folder.resolve("bin"));
    String[] words = new String[paths.length + 1];
    words[0] = "remove";
    for (int i = 0; i < paths.length; i++) {
      words[i + 1] = paths[i].toString();
    }
    try (Launcher launcher =
        new Launcher(LauncherBinary.in(programs), programs, new InstanceId("test"))) {
      return launcher.execute(new LaunchPlan().step(words).encode(), TIMEOUT);
    }
  }

  private void shell(String script) throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder("sh", "-ec", script).directory(folder.toFile()).inheritIO().start();
    assertThat(process.waitFor()).isZero();
  }

  @Test
  void removesTreesDeeperThanPathMax() throws Exception {
    shell(
        "mkdir top top/dark; echo x > top/file; chmod 0 top/dark; name=$(printf %0200d 1);"
            + " for i in $(seq 60); do mkdir new new/.$i; echo x > new/.$i/file;"
            + " mv top new/$name; mv new top; done");
    assertThat(remove(folder.resolve("top"))).isEqualTo("done");
    assertThat(folder.resolve("top")).doesNotExist();
  }

  @Test
  void doesNotFollowSymbolicLinks() throws Exception {
    shell("mkdir kept top top/a; echo x > kept/file; ln -s ../kept top/link; ln -s / top/a/root");
    assertThat(remove(folder.resolve("top"))).isEqualTo("done");
    assertThat(folder.resolve("top")).doesNotExist();
    assertThat(folder.resolve("kept/file")).hasContent("x");
  }

  @Test
  void missingPathIsNoError() throws Exception {
    Path file = Files.writeString(folder.resolve("file"), "x");
    assertThat(remove(file, folder.resolve("none"))).isEqualTo("done");
    assertThat(file).doesNotExist();
  }
}
