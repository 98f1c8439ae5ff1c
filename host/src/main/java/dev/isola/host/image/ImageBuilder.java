package dev.isola.host.image;

import dev.isola.host.UsageReferences;
import dev.isola.link.local.TreeRemoval;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * Assembles an image in a folder: unpacks the source, adds mount points and writes manifest and
 * record.
 */
record ImageBuilder(Path folder, Instant now) {

  void build(ImageSource source, ImageStore.AddOptions adding) throws IOException {
    Path rootfs = Files.createDirectory(folder.resolve("rootfs"));
    Files.setPosixFilePermissions(rootfs, PosixFilePermissions.fromString("rwxr-xr-x"));
    Path work = Files.createDirectory(folder.resolve("work"));
    boolean root = Ownership.isPreserved();
    ImportWarnings notes = new ImportWarnings();
    Budget budget = new Budget(adding.limits());
    ImageDefaults defaults;
    String architecture;
    try (RootfsTree tree = new RootfsTree(rootfs);
        Unpacker unpacker = new Unpacker(tree, root, budget, notes)) {
      defaults =
          source.unpack(new UnpackContext(unpacker, work, budget, notes, root, adding.progress()));
      unpacker.finish();
      if (tree.list("").isEmpty()) {
        throw Fault.of(
                ErrorCode.BAD_ARCHIVE,
                "there are no files in " + source.description(),
                "use a source that contains a root file system")
            .exception();
      }
      MountPoints.create(tree, notes);
      architecture =
          defaults.architecture().isPresent()
              ? defaults.architecture().get()
              : Architecture.of(tree).orElse("unknown");
    }
    TreeRemoval.remove(work);
    adding.progress().accept("hashing files");
    RootfsManifest.Summary contents;
    try (OutputStream list =
        new BufferedOutputStream(
            Files.newOutputStream(folder.resolve(RootfsManifest.FILE)), 1 << 16)) {
      contents = RootfsManifest.write(rootfs, list);
    }
    UsageReferences.initialize(folder);
    List<String> all = new ArrayList<>(notes.lines());
    if (!root) {
      all.addFirst("owners are lost: all files belong to the user who created the image");
    }
    if (!architecture.equals(Architecture.ofHost()) && !architecture.equals("unknown")) {
      all.add("the image is for " + architecture + ", but this host is " + Architecture.ofHost());
    }
    ImageRecord.write(
        folder,
        new Image(
            "",
            rootfs,
            now,
            source.description(),
            contents.digest(),
            contents.size(),
            contents.files(),
            defaults.env(),
            defaults.user(),
            defaults.workdir(),
            architecture,
            root,
            all));
  }
}
