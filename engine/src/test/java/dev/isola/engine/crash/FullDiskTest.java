package dev.isola.engine.crash;

import dev.isola.conformance.TemporaryFolder;
import dev.isola.testing.program.SmallDisk;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The disk of an engine becomes full at any failpoint or write, and has space again later. */
@Tag("all")
class FullDiskTest {
  @Test
  void sandboxesEndAtAnyFailpointAndNothingIsLost() throws Exception {
    try (TemporaryFolder folder = TemporaryFolder.create("isola-full-")) {
      SmallDisk.run(
          folder.path(),
          96,
          FullDiskChild.class,
          List.of("-Disola.failpoint=observed", "-Xmx256m"));
    }
  }

  @Test
  void sandboxesEndAtAnyWriteAndNothingIsLost() throws Exception {
    try (TemporaryFolder folder = TemporaryFolder.create("isola-full-")) {
      SmallDisk.runFilling(folder.path(), 96, FullDiskWrites.class, List.of("-Xmx256m"));
    }
  }
}
