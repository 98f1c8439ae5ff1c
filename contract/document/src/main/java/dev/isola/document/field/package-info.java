/**
 * Fields of JSON documents as data: a field has a name, a type and a description. Reading, writing
 * and the OpenAPI document follow from it.
 */
@NullMarked
package dev.isola.document.field;

import org.jspecify.annotations.NullMarked;
