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
import java.util.Optional;

/**
 * Assembles an image in a folder: unpacks the source, adds mount points and writes manifest and
 * record.
 */
record ImageBuilder(Path folder, Instant now) {

  void build(ImageSource source, ImageStore.AddOptions options) throws IOException {
    Path rootfs = Files.createDirectory(folder.resolve("rootfs"));
    Files.setPosixFilePermissions(rootfs, PosixFilePermissions.fromString("rwxr-xr-x"));
    Path work = Files.createDirectory(folder.resolve("work"));
    boolean preserveOwners = Ownership.isPreserved();
    ImportWarnings warnings = new ImportWarnings();
    ImageDefaults defaults;
    String architecture;
    try (Budget budget = new Budget(options.limits());
        RootfsTree tree = new RootfsTree(rootfs);
        Unpacker unpacker = new Unpacker(tree, preserveOwners, budget, warnings)) {
      defaults =
          source.unpack(
              new UnpackContext(
                  unpacker, work, budget, warnings, preserveOwners, options.progress()));
      unpacker.finish();
      if (tree.list("").isEmpty()) {
        throw Fault.of(
                ErrorCode.BAD_ARCHIVE,
                "there are no files in " + source.description(),
                "use a source that contains a root file system")
            .exception();
      }
      MountPoints.create(tree, warnings);
      architecture =
          defaults.architecture().isPresent()
              ? defaults.architecture().get()
              : Architecture.of(tree).orElse(Architecture.UNKNOWN);
    }
    TreeRemoval.remove(work);
    RootfsManifest.Summary contents = manifest(source, rootfs, options);
    UsageReferences.initialize(folder);
    List<String> all = new ArrayList<>(warnings.lines());
    if (!preserveOwners) {
      all.addFirst("owners are lost: all files belong to the user who created the image");
    }
    if (!architecture.equals(Architecture.ofHost()) && !architecture.equals(Architecture.UNKNOWN)) {
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
            preserveOwners,
            all));
  }

  /** Writes the manifest. That of an image with the same files is copied. */
  private RootfsManifest.Summary manifest(
      ImageSource source, Path rootfs, ImageStore.AddOptions options) throws IOException {
    Path file = folder.resolve(RootfsManifest.FILE);
    Optional<Image> base = source.base();
    if (base.isPresent() && source.hasFilesOfBase() && !base.get().digest().isEmpty()) {
      Path same = base.get().rootfs().resolveSibling(RootfsManifest.FILE);
      if (Files.isRegularFile(same)) {
        Files.copy(same, file);
        return new RootfsManifest.Summary(
            base.get().digest(), base.get().files(), base.get().size());
      }
    }
    options.progress().accept("hashing files");
    try (OutputStream list = new BufferedOutputStream(Files.newOutputStream(file), 1 << 16)) {
      return base.isPresent()
          ? RootfsManifest.write(rootfs, list, base.get())
          : RootfsManifest.write(rootfs, list);
    }
  }
}
