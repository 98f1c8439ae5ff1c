package dev.isola.scripts;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Scripts that must not reach a program, which is replaced by one that leaves a mark. */
class FileScriptsTest {
  private static final int INTO_ITSELF = 46;

  @TempDir Path folder;

  @ParameterizedTest
  @ValueSource(strings = {"/", "//", "/.", "/usr/.."})
  void rootIsNotMoved(String root) throws Exception {
    assertThat(move(root)).isEqualTo(INTO_ITSELF);
    assertThat(folder.resolve("mark")).doesNotExist();
  }

  @Test
  void otherFolderIsMoved() throws Exception {
    Path source = Files.createDirectory(folder.resolve("source"));
    assertThat(move(source.toString())).isZero();
    assertThat(folder.resolve("mark")).exists();
  }

  private int move(String from) throws IOException, InterruptedException {
    Path programs = Files.createDirectories(folder.resolve("programs"));
    Path mv = Files.writeString(programs.resolve("mv"), "#!/bin/sh\n: > " + folder + "/mark\n");
    Files.setPosixFilePermissions(mv, PosixFilePermissions.fromString("rwx------"));
    Process process =
        new ProcessBuilder(
                List.of(
                    "/bin/sh",
                    "-c",
                    "PATH=" + programs + ":$PATH\n" + FileScripts.MOVE,
                    "sh",
                    from,
                    folder.resolve("target").toString(),
                    ""))
            .start();
    return process.waitFor();
  }
}
