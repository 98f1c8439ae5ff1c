package dev.isola.compat.e2b.template;

import dev.isola.compat.e2b.model.Marks;
import dev.isola.engine.api.SandboxView;
import dev.isola.engine.snapshot.SnapshotImages;
import dev.isola.server.context.Images;
import dev.isola.server.context.Serving;
import dev.isola.snapshot.manifest.Snapshot;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.NotFound;
import dev.isola.spi.error.SandboxException;
import java.util.Optional;

/** Templates are images and snapshots, by whatever name E2B's clients know them. */
public record Templates(Serving serving, Images images, BaseImage base) {

  /**
   * @param name may have a tag, of which {@code default} and {@code latest} mean nothing
   * @throws dev.isola.spi.error.NotFound when there is nothing of that name
   */
  public Template find(String name) {
    String plain = name.replaceFirst(":(default|latest)$", "");
    if (plain.equals(Template.HOST.id())) {
      return Template.HOST;
    }
    if (serving.engine().templates().find(plain).isPresent()) {
      return Template.of(serving.engine().templates().built(plain));
    }
    if (hasImage(plain)) {
      return Template.of(plain, plain);
    }
    if (plain.equals(Images.BASE)) {
      base.make();
      return Template.of(plain, plain);
    }
    if (Kernel.NAMES.contains(plain)) {
      return Kernel.template(plain, hasImage(Kernel.IMAGE) ? Kernel.IMAGE : find(Images.BASE).id());
    }
    return serving.engine().snapshots().list().reversed().stream()
        .filter(one -> one.id().equals(plain) || plain.equals(one.tags().get(Marks.SNAPSHOT_NAME)))
        .findFirst()
        .map(this::of)
        .orElseThrow(() -> unknown(plain));
  }

  /** A snapshot has the files, and what its sandbox was made from has the rest. */
  private Template of(Snapshot snapshot) {
    Template files = Template.of(snapshot.id(), SnapshotImages.name(snapshot.id()));
    return Optional.ofNullable(snapshot.tags().get(Marks.SNAPSHOT_TEMPLATE))
        .filter(name -> !name.equals(snapshot.id()))
        .flatMap(this::known)
        .map(one -> one.with(files))
        .orElse(files);
  }

  /** Returns what a sandbox was made from, as far as that is still known. */
  public Template of(SandboxView entry) {
    return known(Marks.template(entry)).orElseGet(() -> Template.of("", ""));
  }

  private Optional<Template> known(String name) {
    try {
      return Optional.of(find(name));
    } catch (NotFound e) {
      return Optional.empty(); // it was removed since
    }
  }

  /** Returns what is there for who needs no more than a root: {@code base}, or the host's files. */
  public Template any() {
    return hasImage(Images.BASE) ? Template.of(Images.BASE, Images.BASE) : Template.HOST;
  }

  private boolean hasImage(String name) {
    return images.list().stream().anyMatch(one -> one.name().equals(name));
  }

  private static SandboxException unknown(String name) {
    return Fault.of(
            ErrorCode.TEMPLATE_NOT_FOUND,
            "template '" + name + "' not found",
            "isola image list shows what there is; isola image pull and build make more")
        .exception();
  }
}
