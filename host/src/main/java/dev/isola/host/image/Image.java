package dev.isola.host.image;

import java.nio.file.Path;
import java.time.Instant;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * An immutable root file system that sandboxes start from.
 *
 * @param rootfs the folder that becomes a sandbox's root; only its owner can enter the parent
 *     folder, because an image may contain programs that are setuid root
 * @param source where the image came from, for display
 * @param digest {@code sha256:...} of the manifest
 * @param size total size of its files in bytes
 * @param files the number of files, folders and links
 * @param env default environment of commands
 * @param user default user of commands: name, id or {@code user:group}
 * @param workdir default working folder of commands
 * @param architecture in OCI notation ({@code amd64}, {@code arm64}), or {@code unknown}
 * @param ownersKept whether files have the owners of the archive; otherwise all belong to the user
 *     who created the image
 * @param notes warnings about content that was skipped or changed during import
 */
public record Image(
    String name,
    Path rootfs,
    Instant createdAt,
    String source,
    String digest,
    long size,
    long files,
    Map<String, String> env,
    Optional<String> user,
    Optional<String> workdir,
    String architecture,
    boolean ownersKept,
    List<String> notes) {

  public Image {
    env = Collections.unmodifiableMap(new LinkedHashMap<>(env));
    notes = List.copyOf(notes);
  }
}
