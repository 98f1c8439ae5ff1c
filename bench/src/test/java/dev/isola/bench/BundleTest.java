package dev.isola.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BundleTest {
  @TempDir Path folder;

  @Test
  void rootContainsOnlyTheProgramUnderBothNames() throws IOException, InterruptedException {
    RawProgram program = RawProgram.install(folder).orElseThrow();
    Path root = Bundle.root(folder, program);
    LocalProgram.run(root.resolve("bin/true").toString());
    Process pause = new ProcessBuilder(root.resolve("bin/pause").toString()).start();
    try {
      assertThat(pause.isAlive()).isTrue();
    } finally {
      pause.destroyForcibly().waitFor();
    }
    Bundle bundle = Bundle.make(folder.resolve("b"), root, "/bin/true");
    assertThat(Files.readString(bundle.path().resolve("config.json")))
        .contains("\"args\":[\"/bin/true\"]", "\"path\":\"" + root + "\"")
        .doesNotContain("@");
  }
}
