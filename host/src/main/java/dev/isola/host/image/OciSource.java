package dev.isola.host.image;

import dev.isola.archive.ArchivePaths;
import dev.isola.codec.tar.TarReader;
import dev.isola.host.image.OciBlobs.Descriptor;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * An image in an OCI layout: a folder with {@code oci-layout}, {@code index.json} and {@code
 * blobs}. Verifies the digests of manifest, configuration and layers.
 */
final class OciSource extends ImageSource {
  private static final String TAG = "org.opencontainers.image.ref.name";
  private static final int MAX_INDEX_DEPTH = 4;
  private static final int MAX_LAYERS = 1000;
  private static final long MAX_INDEX_SIZE = 4 << 20;

  private final Path layout;
  private final Optional<String> tag;
  private final String description;

  OciSource(Path layout, Optional<String> tag, String described) {
    this.layout = layout;
    this.tag = tag;
    this.description = described;
  }

  @Override
  String description() {
    return description;
  }

  @Override
  ImageDefaults unpack(UnpackContext context) throws IOException {
    OciBlobs blobs = new OciBlobs(layout);
    OciDocument manifest = manifest(blobs, index(), MAX_INDEX_DEPTH);
    OciDocument config =
        blobs.document(
            "the configuration",
            Descriptor.of(
                manifest
                    .object("config")
                    .orElseThrow(() -> OciDocument.bad("the manifest has no configuration"))));
    checkPlatform(config);
    List<Descriptor> layers = manifest.objects("layers").stream().map(Descriptor::of).toList();
    List<String> contents =
        config.object("rootfs").map(rootfs -> rootfs.strings("diff_ids")).orElse(List.of());
    if (layers.size() != contents.size() || layers.size() > MAX_LAYERS) {
      throw OciDocument.bad(
          "the manifest has "
              + layers.size()
              + " layers, the configuration "
              + contents.size()
              + "; the maximum is "
              + MAX_LAYERS);
    }
    for (int i = 0; i < layers.size(); i++) {
      context.progress().accept("unpacking layer " + (i + 1) + " of " + layers.size());
      layer(blobs, layers.get(i), contents.get(i), context);
    }
    return defaults(config, context.warnings());
  }

  /** Reads the index of the layout. */
  private OciDocument index() throws IOException {
    Path file = layout.resolve("index.json");
    try {
      if (Files.size(file) > MAX_INDEX_SIZE) {
        throw OciDocument.bad(file + " has " + Files.size(file) + " bytes");
      }
      return OciDocument.parse("the index", Files.readAllBytes(file));
    } catch (NoSuchFileException e) {
      throw Fault.of(
              ErrorCode.INVALID_REQUEST,
              layout + " is not an OCI layout: it has no index.json",
              "use a folder with an OCI layout, for example from skopeo copy SOURCE oci:FOLDER")
          .exception(e);
    }
  }

  private OciDocument manifest(OciBlobs blobs, OciDocument index, int depth) throws IOException {
    List<OciDocument> listed = index.objects("manifests");
    List<OciDocument> candidates =
        depth == MAX_INDEX_DEPTH && tag.isPresent() ? tagged(listed) : forThisMachine(listed);
    if (candidates.isEmpty()) {
      throw noMatchingImage(listed);
    }
    if (candidates.size() > 1 && depth == MAX_INDEX_DEPTH) {
      throw ambiguous(candidates);
    }
    Descriptor chosen = Descriptor.of(candidates.getFirst());
    OciDocument document = blobs.document("the manifest", chosen);
    boolean nested =
        chosen.mediaType().contains("index")
            || chosen.mediaType().contains("manifest.list")
            || document.fields().containsKey("manifests");
    if (!nested) {
      return document;
    }
    if (depth == 0) {
      throw OciDocument.bad("indexes are nested too deeply");
    }
    return manifest(blobs, document, depth - 1);
  }

  private List<OciDocument> tagged(List<OciDocument> listed) {
    List<OciDocument> named =
        listed.stream()
            .filter(entry -> entry.object("annotations").flatMap(it -> it.string(TAG)).equals(tag))
            .toList();
    // A tag with several manifests also needs a platform.
    List<OciDocument> matching = forThisMachine(named);
    return matching.isEmpty() ? named : matching;
  }

  /** Returns the manifests for this platform, or those without a platform if there is none. */
  private static List<OciDocument> forThisMachine(List<OciDocument> listed) {
    List<OciDocument> matching = new ArrayList<>();
    List<OciDocument> unspecified = new ArrayList<>();
    for (OciDocument entry : listed) {
      Optional<OciDocument> platform = entry.object("platform");
      if (platform.isEmpty()) {
        unspecified.add(entry);
      } else if (platform.get().string("os").orElse("linux").equals("linux")
          && platform.get().string("architecture").equals(Optional.of(Architecture.ofHost()))) {
        matching.add(entry);
      }
    }
    return matching.isEmpty() ? unspecified : matching;
  }

  private SandboxException noMatchingImage(List<OciDocument> listed) {
    List<String> available = new ArrayList<>();
    for (OciDocument entry : listed) {
      entry.object("annotations").flatMap(it -> it.string(TAG)).ifPresent(available::add);
      entry
          .object("platform")
          .ifPresent(
              platform ->
                  available.add(
                      platform.string("os").orElse("?")
                          + "/"
                          + platform.string("architecture").orElse("?")));
    }
    String tagged = tag.map(it -> "tagged '" + it + "' ").orElse("");
    return Fault.of(
            ErrorCode.INVALID_REQUEST,
            "no image " + tagged + "for linux/" + Architecture.ofHost() + " is in it",
            "available: "
                + (available.isEmpty()
                    ? "none"
                    : String.join(", ", available.stream().limit(20).toList())))
        .exception();
  }

  private static SandboxException ambiguous(List<OciDocument> candidates) {
    List<String> tags =
        candidates.stream()
            .map(
                entry ->
                    entry.object("annotations").flatMap(it -> it.string(TAG)).orElse("(no tag)"))
            .limit(20)
            .toList();
    return Fault.of(
            ErrorCode.INVALID_REQUEST,
            "the layout has " + candidates.size() + " images",
            "select one with oci:FOLDER:TAG; available: " + String.join(", ", tags))
        .exception();
  }

  private static void checkPlatform(OciDocument config) {
    String os = config.string("os").orElse("linux");
    String architecture = config.string("architecture").orElse(Architecture.ofHost());
    if (!os.equals("linux") || !architecture.equals(Architecture.ofHost())) {
      throw Fault.of(
              ErrorCode.INVALID_REQUEST,
              "the image is for " + os + "/" + architecture,
              "fetch the image for linux/" + Architecture.ofHost())
          .exception();
    }
  }

  private static void layer(
      OciBlobs blobs, Descriptor layer, String contentDigest, UnpackContext context)
      throws IOException {
    if (layer.mediaType().contains("encrypted")) {
      throw OciDocument.bad("the layer " + layer.digest() + " is encrypted");
    }
    ContentDigest blobHash = new ContentDigest();
    ContentDigest contentHash = new ContentDigest();
    Budget packed = new Budget(new ImageLimits(layer.size(), 0));
    try (MeteredImageStream blob =
            new MeteredImageStream(blobs.open(layer), packed, Optional.of(blobHash));
        MeteredImageStream content =
            new MeteredImageStream(
                Decompression.of(blob), context.budget(), Optional.of(contentHash))) {
      new OciLayer(context.unpacker()).apply(new TarReader(content, ArchivePaths::badArchive));
      content.drain();
      blob.drain();
    }
    OciBlobs.verify("a layer", layer.digest(), blobHash.text());
    OciBlobs.verify("the content of a layer", contentDigest, contentHash.text());
  }

  private static boolean isPlain(String text, int longest) {
    return text.length() <= longest && text.chars().noneMatch(Character::isISOControl);
  }

  private static ImageDefaults defaults(OciDocument config, ImportWarnings warnings) {
    Optional<OciDocument> run = config.object("config");
    Map<String, String> env = new LinkedHashMap<>();
    for (String variable : run.map(it -> it.strings("Env")).orElse(List.of())) {
      int equals = variable.indexOf('=');
      if (equals < 1 || variable.indexOf('\0') >= 0) {
        warnings.add("environment variables are not NAME=VALUE", variable);
      } else {
        env.put(variable.substring(0, equals), variable.substring(equals + 1));
      }
    }
    return new ImageDefaults(
        env,
        run.flatMap(it -> it.string("User")).filter(user -> isPlain(user, 256)),
        run.flatMap(it -> it.string("WorkingDir"))
            .filter(
                folder -> folder.startsWith("/") && isPlain(folder, ArchivePaths.MAX_PATH_LENGTH)),
        config.string("architecture"));
  }
}
