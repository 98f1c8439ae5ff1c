package dev.isola.host.image;

import java.nio.file.Path;
import java.util.function.Consumer;

/**
 * What an image source needs to unpack its content.
 *
 * @param work an empty folder for temporary files, removed when the image is complete
 * @param preserveOwners whether this process can change the owners of files
 * @param progress receives progress messages
 */
record UnpackContext(
    Unpacker unpacker,
    Path work,
    Budget budget,
    ImportWarnings warnings,
    boolean preserveOwners,
    Consumer<String> progress) {}
