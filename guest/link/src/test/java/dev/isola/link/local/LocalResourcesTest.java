package dev.isola.link.local;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.spi.provider.HostResources;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LocalResourcesTest {
  @TempDir Path folder;

  @Test
  void readsMemoryAndTheDiskOfTheDataFolder() throws Exception {
    Files.writeString(
        folder.resolve("meminfo"), "MemTotal:       8388608 kB\nMemAvailable:   2097152 kB\n");
    HostResources found = LocalResources.read(folder, folder).orElseThrow();
    assertThat(found.processors()).isEqualTo(Runtime.getRuntime().availableProcessors());
    assertThat(found.memoryMb()).isEqualTo(8192);
    assertThat(found.freeMemoryMb()).hasValue(2048);
    assertThat(found.diskMb().getAsLong())
        .isEqualTo(Files.getFileStore(folder).getTotalSpace() >> 20);
    assertThat(found.freeDiskMb().getAsLong()).isBetween(0L, found.diskMb().getAsLong());
  }

  @Test
  void resourcesAreEmptyWithoutMemoryInfo() {
    assertThat(LocalResources.read(folder, folder)).isEmpty();
  }

  @Test
  void missingDataFolderHasNoDisk() throws Exception {
    Files.writeString(folder.resolve("meminfo"), "MemTotal:       8388608 kB\n");
    HostResources found = LocalResources.read(folder, folder.resolve("gone")).orElseThrow();
    assertThat(found.diskMb()).isEmpty();
    assertThat(found.freeMemoryMb()).isEmpty();
  }
}
