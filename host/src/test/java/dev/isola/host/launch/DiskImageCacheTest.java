package dev.isola.host.launch;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** S2: a disk has room for the requested bytes and files, and not much more. */
class DiskImageCacheTest {
  private static final long MEGABYTE = 1 << 20;

  @TempDir Path folder;

  @BeforeEach
  void needsPrograms() {
    for (String name : new String[] {"mkfs.ext4", "dumpe2fs"}) {
      Assumptions.assumeTrue(
          HostProgram.find(name).isPresent(), "NOT RUN: " + name + " is not installed");
    }
  }

  private static long field(String text, String name) {
    Matcher found = Pattern.compile("(?m)^" + name + ": +(\\d+)$").matcher(text);
    assertThat(found.find()).as("%s in %s", name, text).isTrue();
    return Long.parseLong(found.group(1));
  }

  @ParameterizedTest
  @CsvSource({
    "1,false",
    "1,true",
    "32,false",
    "32,true",
    "10240,false",
    "10240,true",
    "200000,false"
  })
  void diskHasTheRequestedCapacity(long megabytes, boolean journal) throws IOException {
    DiskSize size = new DiskSize(megabytes, journal);
    Path model = new DiskImageCache(folder).of(size);
    String about = HostProgram.find("dumpe2fs").orElseThrow().run("-h", model.toString()).text();
    long free = field(about, "Free blocks") * 4096;
    assertThat(free)
        .isBetween(megabytes * MEGABYTE, megabytes * MEGABYTE * 102 / 100 + 3 * MEGABYTE);
    assertThat(field(about, "Inode count"))
        .isBetween(size.inodes(), size.inodes() * 102 / 100 + 512);
    assertThat(field(about, "Reserved block count")).isZero();
    long used = blocks(model);
    assertThat(used).as("a copy is small").isLessThan(journal ? 8 * MEGABYTE : 4 * MEGABYTE);
  }

  private static long blocks(Path file) {
    String answer = HostProgram.find("stat").orElseThrow().run("-c", "%b", file.toString()).text();
    return Long.parseLong(answer) * 512;
  }

  @Test
  void imageIsCreatedOnceAndTheCacheIsBounded() throws IOException {
    DiskImageCache models = new DiskImageCache(folder);
    Path first = models.of(new DiskSize(1, false));
    assertThat(models.of(new DiskSize(1, false))).isEqualTo(first);
    for (int size = 2; size < 40; size++) {
      assertThat(models.of(new DiskSize(size, false))).exists();
    }
    try (Stream<Path> all = Files.list(folder)) {
      assertThat(all.filter(one -> one.toString().endsWith(".ext4")).count()).isEqualTo(32);
    }
  }
}
