package dev.isola.compat.e2b.template;

import dev.isola.compat.e2b.model.E2bLabels;
import dev.isola.engine.api.SandboxView;
import dev.isola.engine.api.SnapshotImageName;
import dev.isola.server.context.ImageService;
import dev.isola.server.context.ServerContext;
import dev.isola.snapshot.manifest.Snapshot;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.NotFound;
import dev.isola.spi.error.SandboxException;
import java.util.Optional;

/** Resolves template names to images, snapshots and templates of the engine. */
public record E2bTemplates(ServerContext context, ImageService images, BaseImageBuilder base) {

  /**
   * Returns the template with this name.
   *
   * @param name may end with a tag; {@code default} and {@code latest} are ignored
   * @throws dev.isola.spi.error.NotFound when no template has this name
   */
  public E2bTemplate find(String name) {
    String plain = name.replaceFirst(":(default|latest)$", "");
    if (plain.equals(E2bTemplate.HOST.id())) {
      return E2bTemplate.HOST;
    }
    if (context.engine().templates().find(plain).isPresent()) {
      return E2bTemplate.of(context.engine().templates().requireBuilt(plain));
    }
    if (hasImage(plain)) {
      return E2bTemplate.of(plain, plain);
    }
    if (plain.equals(ImageService.BASE)) {
      base.ensureBuilt();
      return E2bTemplate.of(plain, plain);
    }
    if (CodeInterpreter.NAMES.contains(plain)) {
      return CodeInterpreter.template(
          plain,
          hasImage(CodeInterpreter.IMAGE) ? CodeInterpreter.IMAGE : find(ImageService.BASE).id());
    }
    return context.engine().snapshots().list().reversed().stream()
        .filter(
            one -> one.id().equals(plain) || plain.equals(one.tags().get(E2bLabels.SNAPSHOT_NAME)))
        .findFirst()
        .map(this::of)
        .orElseThrow(() -> unknown(plain));
  }

  /**
   * Combines the files of a snapshot with the defaults of the template its sandbox was created
   * from.
   */
  private E2bTemplate of(Snapshot snapshot) {
    E2bTemplate files = E2bTemplate.of(snapshot.id(), SnapshotImageName.of(snapshot.id()));
    return Optional.ofNullable(snapshot.tags().get(E2bLabels.SNAPSHOT_TEMPLATE))
        .filter(name -> !name.equals(snapshot.id()))
        .flatMap(this::findKnown)
        .map(one -> one.onFilesOf(files))
        .orElse(files);
  }

  /**
   * Returns the template that a sandbox was created from, or an empty one if it no longer exists.
   */
  public E2bTemplate of(SandboxView entry) {
    return findKnown(E2bLabels.template(entry)).orElseGet(() -> E2bTemplate.of("", ""));
  }

  private Optional<E2bTemplate> findKnown(String name) {
    try {
      return Optional.of(find(name));
    } catch (NotFound e) {
      return Optional.empty(); // removed in the meantime
    }
  }

  /**
   * Returns a template for a helper sandbox that needs only a root file system: {@code base} if it
   * exists, otherwise the host.
   */
  public E2bTemplate helperTemplate() {
    return hasImage(ImageService.BASE)
        ? E2bTemplate.of(ImageService.BASE, ImageService.BASE)
        : E2bTemplate.HOST;
  }

  private boolean hasImage(String name) {
    return images.list().stream().anyMatch(one -> one.name().equals(name));
  }

  private static SandboxException unknown(String name) {
    return Fault.of(
            ErrorCode.TEMPLATE_NOT_FOUND,
            "template '" + name + "' not found",
            "list images with 'isola image ls'; add one with 'isola image pull' or 'isola image"
                + " build'")
        .exception();
  }
}
