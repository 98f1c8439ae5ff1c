package dev.isola.host.image;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** An image that skopeo copies from a registry or an archive. Isola unpacks it itself. */
final class SkopeoSource extends ImageSource {
  private static final Duration TIMEOUT = Duration.ofMinutes(30);
  private static final String TAG = "isola";

  private final String reference;

  SkopeoSource(String reference) {
    this.reference = reference;
  }

  @Override
  String description() {
    return reference;
  }

  @Override
  ImageDefaults unpack(UnpackContext context) throws IOException {
    Path layout = context.work().resolve("layout");
    context.progress().accept("fetching " + reference);
    new ExternalTool("skopeo", "skopeo", TIMEOUT, context.progress())
        .run(
            List.of(
                "copy",
                "--quiet",
                "--override-os",
                "linux",
                "--override-arch",
                Architecture.ofHost(),
                reference,
                "oci:" + layout + ":" + TAG));
    return new OciSource(layout, Optional.of(TAG), reference).unpack(context);
  }
}
