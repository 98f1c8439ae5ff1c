package dev.isola.app.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.isola.spi.InstanceId;
import dev.isola.spi.error.ProviderUnavailable;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DataFolderTest {
  @TempDir Path folder;

  @Test
  void resolvesThePathInOrderOfPrecedence() {
    Map<String, String> all = Map.of("ISOLA_DATA", "/d", "XDG_STATE_HOME", "/s", "HOME", "/h");
    assertThat(DataFolder.path("/o", all, "root")).isEqualTo(Path.of("/o"));
    assertThat(DataFolder.path(null, all, "root")).isEqualTo(Path.of("/d"));
    Map<String, String> state = Map.of("XDG_STATE_HOME", "/s", "HOME", "/h");
    assertThat(DataFolder.path(null, state, "root")).isEqualTo(Path.of("/var/lib/isola"));
    assertThat(DataFolder.path(null, state, "me")).isEqualTo(Path.of("/s/isola"));
    assertThat(DataFolder.path(null, Map.of("HOME", "/h"), "me"))
        .isEqualTo(Path.of("/h/.local/state/isola"));
  }

  @Test
  void concurrentProcessesGetTheSameInstanceId() throws Exception {
    Set<InstanceId> seen = new HashSet<>();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<InstanceId>> asking = new ArrayList<>();
      for (int i = 0; i < 64; i++) {
        asking.add(threads.submit(() -> new DataFolder(folder.resolve("deep/data")).instance()));
      }
      for (Future<InstanceId> one : asking) {
        seen.add(one.get());
      }
    }
    assertThat(seen).hasSize(1);
    assertThat(folder.resolve("deep/data").toFile().list()).containsExactly("instance");
  }

  @Test
  void rejectsAnInvalidInstanceFile() throws Exception {
    Files.writeString(folder.resolve("instance"), "NOT ONE\n");
    assertThatExceptionOfType(ProviderUnavailable.class)
        .isThrownBy(() -> new DataFolder(folder).instance())
        .withMessageContaining("does not contain an instance id");
  }
}
