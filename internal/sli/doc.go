package sli
